export { metadata, ScheduleListPage as default } from "../../../../../_components/jobs/schedule-list-page.tsx";
