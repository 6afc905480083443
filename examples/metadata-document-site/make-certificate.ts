import { readCertificate } from "./certificate.ts";
import { certificateDirectory, siteHost } from "./settings.ts";

/** `npm run certificate`: the certificate before the site starts, since the service reads whom to trust when it starts itself. */
const { path } = await readCertificate(certificateDirectory(process.env), siteHost(process.env));
console.log(path);
