/**
 * Changes an element's content to that of another element. Keeps what the person is using: the focus, typed text,
 * chosen values and open forms. A form with typed text also keeps its hidden values, so that the service refuses the
 * form if it is outdated.
 */
export function morph(old: Element, fresh: Element): void {
  if (old.isEqualNode(fresh) || (old instanceof HTMLFormElement && isInUse(old))) return
  copyAttributes(old, fresh)
  const left = [...old.childNodes]
  let next = old.firstChild
  for (const child of [...fresh.childNodes]) {
    const found = take(left, nameOf(child))
    if (!found) {
      old.insertBefore(document.importNode(child, true), next)
      continue
    }
    // Moving a node takes away its focus. The nodes before it are therefore moved instead.
    while (next !== found && next && holdsUse(found)) {
      const after: ChildNode | null = next.nextSibling
      old.append(next)
      next = after
    }
    if (next === found) next = found.nextSibling
    else old.insertBefore(found, next)
    if (found instanceof Element) morph(found, child as Element)
    else if (found.nodeValue !== child.nodeValue) found.nodeValue = child.nodeValue
  }
  for (const one of left) if (!holdsUse(one)) one.remove()
}

function copyAttributes(old: Element, fresh: Element): void {
  for (const { name } of [...old.attributes])
    if (!fresh.hasAttribute(name) && !(name === 'open' && old instanceof HTMLDetailsElement)) old.removeAttribute(name)
  for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value)
}

/** Removes the first node with a name from a list, and returns it. */
function take(nodes: ChildNode[], name: string): ChildNode | undefined {
  const at = nodes.findIndex((one) => nameOf(one) === name)
  return at < 0 ? undefined : nodes.splice(at, 1)[0]
}

/** Returns a name for matching a node with its new version, such as the address to which a row leads. */
function nameOf(node: Node): string {
  if (!(node instanceof Element)) return node.nodeName
  const { nodeName, id, className } = node
  if (id !== '') return `${nodeName} ${id}`
  if (node instanceof HTMLDetailsElement) return `${nodeName} ${node.querySelector('summary')?.textContent}`
  const link = node.matches('a, tr, li') ? (node.closest('a') ?? node.querySelector('a')) : null
  return `${nodeName} ${link?.getAttribute('href') ?? className}`
}

/** Reports whether a node contains the focus or a form in use. */
const holdsUse = (node: Node): boolean =>
  node instanceof Element &&
  (node.contains(focused()) ||
    [...node.querySelectorAll('form')].some(isInUse) ||
    (node instanceof HTMLFormElement && isInUse(node)))

const focused = () => (document.activeElement === document.body ? null : document.activeElement)

/** Reports whether a form contains the focus, or values that the person chose or typed. */
const isInUse = (form: HTMLFormElement): boolean =>
  [...form.elements].some((one) => (one === focused() && one.matches('input, select, textarea')) || isChanged(one))

function isChanged(control: Element): boolean {
  if (control instanceof HTMLTextAreaElement) return control.value !== control.defaultValue
  if (control instanceof HTMLInputElement) {
    if (control.type === 'hidden') return false
    return control.value !== control.defaultValue || control.checked !== control.defaultChecked
  }
  if (!(control instanceof HTMLSelectElement)) return false
  const first = [...control.options].findIndex(({ defaultSelected }) => defaultSelected)
  return control.selectedIndex !== Math.max(0, first)
}
