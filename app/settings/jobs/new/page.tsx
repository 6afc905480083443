export { metadata, NewJobPage as default } from "../../../_components/jobs/new-job-page.tsx";
