/** Calls `run` in the next frame, and again after each change of the elements below `where`. */
export function afterEachChange(where: HTMLElement, run: () => void) {
  let isScheduled = false
  const schedule = () => {
    if (isScheduled) return
    isScheduled = true
    requestAnimationFrame(() => {
      isScheduled = false
      run()
    })
  }
  new MutationObserver(schedule).observe(where, { childList: true, subtree: true })
  schedule()
}
