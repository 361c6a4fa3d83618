/**
 * Options for removing folders: on Windows, a file stays open for a moment after its process has ended, so the first try can fail.
 */
export const removing = { recursive: true, force: true, maxRetries: 10, retryDelay: 200 } as const;
