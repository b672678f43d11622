/** Undoes what was put up. */
export type Paso = () => Promise<unknown>

const openCleanups = new Set<Paso>()

/** Ends what everybody here started; for signals. */
export const closeAll = () => Promise.all([...openCleanups].map((close) => close().catch(() => {})))

/** Whatever is put up there is undone at the end, the last first, however it ends. */
export async function withSteps<T>(action: (steps: Paso[]) => Promise<T>): Promise<T> {
  const steps: Paso[] = []
  let closing: Promise<void> | undefined
  const close = () => {
    closing ??= (async () => {
      for (const step of steps.splice(0).reverse()) await step().catch((error) => console.error(error))
      openCleanups.delete(close)
    })()
    return closing
  }
  openCleanups.add(close)
  try {
    return await action(steps)
  } finally {
    await close()
  }
}
