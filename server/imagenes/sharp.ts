type CrearSharp = typeof import('sharp').default
let cargado: Promise<CrearSharp> | undefined

/** Loaded at its first use: it takes its time. Its library reads a hundred formats; of those three are let in. */
export function cargarSharp(): Promise<CrearSharp> {
  cargado ??= import('sharp').then(({ default: sharp }) => {
    sharp.cache(false)
    sharp.concurrency(1)
    sharp.block({ operation: ['VipsForeignLoad'] })
    sharp.unblock({
      operation: ['Jpeg', 'Png', 'Webp'].flatMap((de) => [`VipsForeignLoad${de}File`, `VipsForeignLoad${de}Buffer`]),
    })
    return sharp
  })
  return cargado
}
