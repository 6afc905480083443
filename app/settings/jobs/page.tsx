export { JobListPage as default, metadata } from "../../_components/jobs/job-list-page.tsx";
