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

const DE_SVG = { operation: ['VipsForeignLoadSvgBuffer'] }

/** Lets SVG in while `hacer` runs, which is at start or in a script: nobody sends pictures then. */
export async function conSvg<T>(hacer: (sharp: CrearSharp) => Promise<T>): Promise<T> {
  const sharp = await cargarSharp()
  sharp.unblock(DE_SVG)
  try {
    return await hacer(sharp)
  } finally {
    sharp.block(DE_SVG)
  }
}
