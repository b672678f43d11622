/** Undoes what was put up. */
export type Paso = () => Promise<unknown>

const abiertos = new Set<Paso>()

/** Ends what everybody here started; for signals. */
export const closeAll = () => Promise.all([...abiertos].map((cerrar) => cerrar().catch(() => {})))

/** Whatever is put up there is undone at the end, the last first, however it ends. */
export async function withSteps<T>(hacer: (pasos: Paso[]) => Promise<T>): Promise<T> {
  const pasos: Paso[] = []
  let closing: Promise<void> | undefined
  const cerrar = () => {
    closing ??= (async () => {
      for (const paso of pasos.splice(0).reverse()) await paso().catch((error) => console.error(error))
      abiertos.delete(cerrar)
    })()
    return closing
  }
  abiertos.add(cerrar)
  try {
    return await hacer(pasos)
  } finally {
    await cerrar()
  }
}
