export { metadata, NewSchedulePage as default } from "../../../../../../_components/jobs/new-schedule-page.tsx";
