export { metadata, NewAppPage as default } from "../../../../../_components/applications/new-app-page.tsx";
