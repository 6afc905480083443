import { readCertificate } from "./certificate.ts";
import { certificateDirectory, siteHost } from "./settings.ts";

/**
 * `npm run certificate`: creates the certificate before the site starts, since the service reads its trusted certificates when it
 * starts.
 */
const { path } = await readCertificate(certificateDirectory(process.env), siteHost(process.env));
console.log(path);
