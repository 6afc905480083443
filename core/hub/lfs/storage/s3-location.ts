export const S3_PREFIX = "s3:";

export const keyOf = (location: string): string => location.slice(S3_PREFIX.length);
