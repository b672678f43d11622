/** Headers that let other sites' pages show what a signed link opens: the link is the permission. */
export const DE_OTRO_ORIGEN = { 'Cross-Origin-Resource-Policy': 'cross-origin' }

export const disposicionDe = (disp: 'inline' | 'attachment', nombre: string) => `${disp}; filename="${nombre}"`

/** The headers of bytes that a signed link opens: the bytes run nothing, load nothing, and are framed by nobody. */
export const cabecerasDeDescarga = (disp: 'inline' | 'attachment', nombre: string, ETag: string) => ({
  'Content-Disposition': disposicionDe(disp, nombre),
  ETag,
  'Content-Security-Policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
  ...DE_OTRO_ORIGEN,
})
