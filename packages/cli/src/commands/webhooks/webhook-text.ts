import type { WebhookRecord } from "@keyhook/sdk";

export const watchedText = ({ type, name }: WebhookRecord["watched"][number]): string => `${type}:${name}`;
