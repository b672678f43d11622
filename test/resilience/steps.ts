/** Undoes what was put up. */
export type Paso = () => Promise<unknown>

const openCleanups = new Set<Paso>()

/** Ends what everybody here started; for signals. */
export const closeAll = () => Promise.all([...openCleanups].map((cerrar) => cerrar().catch(() => {})))

/** Whatever is put up there is undone at the end, the last first, however it ends. */
export async function withSteps<T>(action: (steps: Paso[]) => Promise<T>): Promise<T> {
  const steps: Paso[] = []
  let closing: Promise<void> | undefined
  const cerrar = () => {
    closing ??= (async () => {
      for (const paso of steps.splice(0).reverse()) await paso().catch((error) => console.error(error))
      openCleanups.delete(cerrar)
    })()
    return closing
  }
  openCleanups.add(cerrar)
  try {
    return await action(steps)
  } finally {
    await cerrar()
  }
}
