type CreateSharp = typeof import('sharp').default
let loadedSharp: Promise<CreateSharp> | undefined

/**
 * Loads sharp at first use, because loading is slow. Its library reads about a hundred formats; this function blocks
 * all except JPEG, PNG and WebP.
 */
export function loadSharp(): Promise<CreateSharp> {
  loadedSharp ??= import('sharp').then(({ default: sharp }) => {
    sharp.cache(false)
    sharp.concurrency(1)
    sharp.block({ operation: ['VipsForeignLoad'] })
    sharp.unblock({
      operation: ['Jpeg', 'Png', 'Webp'].flatMap((de) => [`VipsForeignLoad${de}File`, `VipsForeignLoad${de}Buffer`]),
    })
    return sharp
  })
  return loadedSharp
}

const SVG_OPERATION = { operation: ['VipsForeignLoadSvgBuffer'] }

/** Allows SVG while `work` runs. Used only at start or in a script, when no client sends pictures. */
export async function withSvg<T>(work: (sharp: CreateSharp) => Promise<T>): Promise<T> {
  const sharp = await loadSharp()
  sharp.unblock(SVG_OPERATION)
  try {
    return await work(sharp)
  } finally {
    sharp.block(SVG_OPERATION)
  }
}
