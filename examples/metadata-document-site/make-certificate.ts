import { readCertificate } from "./certificate.ts";
import { certificateDirectory, siteHost } from "./settings.ts";

/**
 * `npm run certificate`: creates the certificate without starting the site. The certificate must exist before the service starts, because
 * the service reads its trusted certificates only then.
 */
const { path } = await readCertificate(certificateDirectory(process.env), siteHost(process.env));
console.log(path);
