export { metadata, RunPage as default } from "../../../../../_components/jobs/run-page.tsx";
