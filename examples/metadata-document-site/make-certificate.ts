import { readCertificate } from "./certificate.ts";
import { certificateDirectory, siteHost } from "./settings.ts";

/**
 * `npm run certificate`. The certificate must exist before the service starts, because the service reads trusted certificates only then.
 */
const { path } = await readCertificate(certificateDirectory(process.env), siteHost(process.env));
console.log(path);
