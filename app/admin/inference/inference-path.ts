export const INFERENCE_PATH = "/admin/inference";

export const inferencePath = (notice: string): string => `${INFERENCE_PATH}?notice=${notice}`;
