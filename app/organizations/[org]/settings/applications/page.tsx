export { AppListPage as default, metadata } from "../../../../_components/applications/app-list-page.tsx";
