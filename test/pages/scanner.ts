import type { CDPSession, Page } from 'playwright-core'
import { expect } from 'vitest'
import { evaluateIn } from './inspect.ts'

/** What a screen reader is told of a thing on the page. */
interface Nodo {
  role: string
  nombre: string
  level: number
}

interface FocusStop extends Nodo {
  /** Of the element, to know it again. */
  id: number
  /** What is wrong with how the focus shows; empty where nothing is. */
  missing: string
}

const CONTROL_ROLES = new Set(
  'button link textbox searchbox checkbox radio combobox listbox slider spinbutton switch progressbar DisclosureTriangle'.split(
    ' ',
  ),
)
const REGION_ROLES = 'banner main navigation search region form complementary contentinfo'.split(' ')

interface TreeNode {
  ignored: boolean
  role?: { value: string }
  name?: { value: string }
  properties?: { name: string; value: { value?: unknown } }[]
}
const readNode = ({ role, name, properties = [] }: TreeNode): Nodo => ({
  role: role?.value ?? '',
  nombre: name?.value ?? '',
  level: Number(properties.find((axProperty) => axProperty.name === 'level')?.value.value ?? 0),
})

/** The tree that screen readers read, without what is hidden from them. */
async function readAccessibilityTree(sesion: CDPSession): Promise<Nodo[]> {
  await sesion.send('Accessibility.enable')
  const { nodes } = await sesion.send('Accessibility.getFullAXTree')
  return (nodes as TreeNode[]).filter(({ ignored }) => !ignored).map(readNode)
}

/** Whether one sees where the focus is: an outline, on the element or on what stands for it, in the window and uncovered. */
const FOCUS_SCRIPT = `(() => {
  const activo = document.activeElement
  if (!activo || activo === document.body) return null
  const numeros = (window.paradas ??= new Map())
  if (!numeros.has(activo)) numeros.set(activo, numeros.size)
  const visto = (uno) => {
    const { outlineStyle, outlineWidth } = getComputedStyle(uno)
    return outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2
  }
  const quien = visto(activo) ? activo : activo.closest('label, .zona')
  if (!quien || !visto(quien)) return { id: numeros.get(activo), missing: 'no outline' }
  const { left, top, width, height } = quien.getBoundingClientRect()
  if (top < 0 || top + Math.min(height, 40) > innerHeight) return { id: numeros.get(activo), missing: 'out of the window' }
  const arriba = document.elementFromPoint(left + width / 2, top + Math.min(height / 2, innerHeight - top - 2))
  const tapado = !arriba || !(quien.contains(arriba) || arriba.contains(quien))
  return { id: numeros.get(activo), missing: tapado ? 'covered' : '' }
})()`

/** Goes through a page with the Tab key alone, from its top until it comes round. */
async function walkWithTab(page: Page, sesion: CDPSession): Promise<FocusStop[]> {
  await evaluateIn(
    page,
    `(() => { window.paradas = undefined; scrollTo(0, 0)
      document.body.tabIndex = -1; document.body.focus(); document.body.removeAttribute('tabindex') })()`,
  )
  const stops: FocusStop[] = []
  while (stops.length < 120) {
    await page.keyboard.press('Tab')
    const focus = await evaluateIn<{ id: number; missing: string } | null>(page, FOCUS_SCRIPT)
    // A field of a date has a stop for each of its parts, which the browser outlines itself.
    const isPartOfLast = focus !== null && stops.at(-1)?.id === focus.id
    if (!focus || (!isPartOfLast && stops.some(({ id }) => id === focus.id))) return stops
    const { result } = await sesion.send('Runtime.evaluate', { expression: 'document.activeElement' })
    const { nodes } = await sesion.send('Accessibility.getPartialAXTree', {
      objectId: result.objectId!,
      fetchRelatives: false,
    })
    stops.push({ ...readNode(nodes[0] as TreeNode), ...focus, ...(isPartOfLast && { missing: '' }) })
  }
  throw new Error('the Tab key never comes round')
}

/** A page as it is without a mouse and without seeing it. */
export interface ReaderWalk {
  /** How often Tab is pressed to reach what the page is for. */
  hasta: number
  stops: number
  headingLevels: string
  regions: string
}

/**
 * Fails where a control has no name, where the focus can't be seen, where a heading's level is skipped.
 * @param accion the name of what the page is for
 */
export async function checkWithoutSight(page: Page, accion: string): Promise<ReaderWalk> {
  const sesion = await page.context().newCDPSession(page)
  const tree = await readAccessibilityTree(sesion)
  const unnamedNodes = tree.filter(({ role, nombre }) => CONTROL_ROLES.has(role) && !nombre.trim())
  expect(unnamedNodes.map(({ role }) => role).join('; '), 'without a name').toBe('')
  const levels = tree.filter(({ role }) => role === 'heading').map(({ level }) => level)
  expect(levels.filter((level) => level === 1)).toHaveLength(1)
  for (const [i, level] of levels.entries()) expect(level).toBeLessThanOrEqual((levels[i - 1] ?? 0) + 1)
  const regions = REGION_ROLES.map((region) => [region, tree.filter(({ role }) => role === region).length] as const)
  expect(Object.fromEntries(regions).main).toBe(1)
  const stops = await walkWithTab(page, sesion)
  const faultyStops = stops.filter(({ missing, nombre }) => missing || !nombre.trim())
  expect(faultyStops.map(({ nombre, missing }) => `${nombre}: ${missing || 'without a name'}`).join('; ')).toBe('')
  const hasta = 1 + stops.findIndex(({ nombre }) => nombre.startsWith(accion))
  expect(hasta, `${accion} among ${stops.map(({ nombre }) => nombre).join(' · ')}`).toBeGreaterThan(0)
  await sesion.detach()
  return {
    hasta,
    stops: stops.length,
    headingLevels: levels.join(' '),
    regions: regions.flatMap(([region, count]) => (count > 1 ? `${count} ${region}` : count ? region : [])).join(', '),
  }
}

/** What appears on a page when something is done, and is neither in a live region nor where the focus went: nobody hears it. */
export async function findUnannounced(page: Page, action: () => Promise<unknown>): Promise<string[]> {
  await evaluateIn(
    page,
    `(() => { window.aparecidos = new Set()
      new MutationObserver((cambios) => { for (const { target, addedNodes, type, oldValue } of cambios)
        for (const uno of type === 'childList' ? addedNodes : [target]) window.aparecidos.add(uno)
      }).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: ['hidden'] }) })()`,
  )
  await action()
  return evaluateIn<string[]>(
    page,
    `new Promise(requestAnimationFrame).then(() => [...window.aparecidos].flatMap((nodo) => {
      const uno = nodo.nodeType === Node.TEXT_NODE ? nodo.parentElement : nodo
      if (!uno?.isConnected || !(uno instanceof HTMLElement) || !uno.checkVisibility()) return []
      const texto = uno.textContent.trim()
      const vivo = '[role=status], [role=alert], [aria-live]'
      const activo = document.activeElement
      if (!texto || uno.closest(vivo + ', button, label, dialog') || uno.querySelector(vivo)) return []
      // The focus is on it, or in a field that it describes.
      if (activo !== document.body && (uno.contains(activo) || activo.matches('h1'))) return []
      if (uno.id && activo.getAttribute('aria-describedby')?.split(' ').includes(uno.id)) return []
      return texto.slice(0, 100)
    }))`,
  )
}
