/**
 * How folders are removed: Windows keeps a file open for a moment after its process has ended, so that the first try can fail.
 */
export const removing = { recursive: true, force: true, maxRetries: 10, retryDelay: 200 } as const;
