/** Calls `run` in the next frame, and again after each change of the elements below `donde`. */
export function afterEachChange(donde: HTMLElement, run: () => void) {
  let isScheduled = false
  const schedule = () => {
    if (isScheduled) return
    isScheduled = true
    requestAnimationFrame(() => {
      isScheduled = false
      run()
    })
  }
  new MutationObserver(schedule).observe(donde, { childList: true, subtree: true })
  schedule()
}
