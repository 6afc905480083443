import { readCertificate } from "./certificate.ts";
import { certificateDirectory, siteHost } from "./settings.ts";

/** `npm run certificate`. The service reads trusted certificates only when it starts. */
const { path } = await readCertificate(certificateDirectory(process.env), siteHost(process.env));
console.log(path);
