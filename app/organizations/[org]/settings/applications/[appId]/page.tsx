export { AppPage as default, generateMetadata } from "../../../../../_components/applications/app-page.tsx";
