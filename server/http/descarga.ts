/** The link is the permission: the merchant's own pages may show what they have a link to. */
export const DE_OTRO_ORIGEN = { 'Cross-Origin-Resource-Policy': 'cross-origin' }

export const disposicionDe = (disp: 'inline' | 'attachment', nombre: string) => `${disp}; filename="${nombre}"`

/** What goes with bytes that a signed link opens: they run nothing, load nothing, and are framed by nobody. */
export const cabecerasDeDescarga = (disp: 'inline' | 'attachment', nombre: string, ETag: string) => ({
  'Content-Disposition': disposicionDe(disp, nombre),
  ETag,
  'Content-Security-Policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
  ...DE_OTRO_ORIGEN,
})

/** Whether an `If-None-Match` names what we would send. */
export const coincideEtag = (cabecera: string | undefined, etag: string) =>
  cabecera?.split(',').some((uno) => ['*', etag, `W/${etag}`].includes(uno.trim())) ?? false
