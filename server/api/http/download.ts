/** Headers that let pages of other sites show the target of a signed link. The link itself is the permission. */
export const CROSS_ORIGIN_HEADERS = { 'Cross-Origin-Resource-Policy': 'cross-origin' }

/** Returns a value for the `Content-Disposition` header. */
export const dispositionOf = (disp: 'inline' | 'attachment', name: string) => `${disp}; filename="${name}"`

/**
 * Returns the headers of bytes behind a signed link. Browsers may not run scripts in them, load resources for them, or
 * frame them.
 */
export const downloadHeaders = (disp: 'inline' | 'attachment', name: string, ETag: string) => ({
  'Content-Disposition': dispositionOf(disp, name),
  ETag,
  'Content-Security-Policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
  ...CROSS_ORIGIN_HEADERS,
})
