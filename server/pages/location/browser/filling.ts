// Connects the parts of the form while the recipient fills it in: the location, the map, the link, the steps and the
// search for the position.
import type { Point } from '../../../platform/maps/point.ts'
import { askForPin, DESCRIPTION_TOO_SHORT, MIN_DESCRIPTION_LENGTH } from '../precision.ts'
import { field, showFieldFault, showStatus } from './form.ts'
import { type LinkField, prepareLink } from './link.ts'
import { prepareMap, UNSEEN, type Visor } from './openMap.ts'
import { type ChosenPlace, preparePlace } from './place.ts'
import { type PositionSearch, preparePosition } from './position.ts'
import { type FormSteps, prepareSteps, type UbicacionWay } from './steps.ts'
import { describeChoice, readZone, type Zona } from './words.ts'

/** Form in which the recipient gives the location, while it is filled in. */
export class Filling {
  readonly #zone: Zona
  readonly #place: ChosenPlace
  readonly #visor: Visor | undefined
  readonly #link: LinkField
  readonly #steps: FormSteps
  readonly #search: PositionSearch
  readonly #reference: HTMLInputElement
  readonly #approximate = document.querySelector<HTMLInputElement>('#aproximado')!
  readonly #form: HTMLFormElement
  #timer: number | undefined

  constructor(form: HTMLFormElement) {
    this.#form = form
    this.#reference = field(form, 'referencia')!
    this.#zone = readZone(form)
    this.#place = preparePlace(form, () => this.#onChoose())
    this.#visor = prepareMap(this.#place, () => this.#update(), this.#zone)
    this.#link = prepareLink(this.#place)
    this.#steps = prepareSteps(form, (shape) => this.#onArrive(shape))
    const onFind = (point: Point, precision: number) => {
      this.#place.choose('gps', point, precision)
      this.#steps.goTo('gps')
    }
    this.#search = preparePosition(onFind, () => this.#scheduleDescription())
    this.#reference.addEventListener('input', () => showFieldFault('referencia', ''))
    // The page continues with what the recipient filled in before, whether restored from this tab or returned by the
    // server.
    this.#steps.start(this.#place.method() || (field(form, 'enlace')!.value ? 'enlace' : ''))
    this.#update()
  }

  /**
   * Shows what is missing, at the place where it is missing.
   * @returns false if nothing is missing
   */
  showMissing(): boolean {
    const shape = this.#steps.forma()
    if (shape === 'descripcion') return this.#lacksDescription()
    if (shape === 'enlace' && this.#place.method() !== 'mapa') {
      const isLacking = this.#link.showMissing() !== ''
      if (isLacking) document.getElementById('enlace')!.focus()
      return isLacking
    }
    if (!this.#place.point()) {
      showStatus('envio', this.#missingPoint(), 'problema')
      return true
    }
    this.#search.stop()
    if (!this.#place.isImprecise() || this.#approximate.checked) return false
    showStatus('envio', 'Ponga el pin en su puerta, o marque que está bien.', 'problema')
    this.#approximate.focus()
    return true
  }

  /** The open map shows a pin in the middle of the municipality, which is no choice. */
  #missingPoint(): string {
    if (!this.#hasMap()) return 'Falta el lugar. Diga el lugar de otra forma.'
    if (this.#place.method() === 'mapa') return UNSEEN
    return 'El pin todavía no está en su puerta. Mueva el mapa, o toque su casa en él.'
  }

  #lacksDescription(): boolean {
    const isLacking = this.#reference.value.trim().length < MIN_DESCRIPTION_LENGTH
    showFieldFault('referencia', isLacking ? DESCRIPTION_TOO_SHORT : '')
    if (isLacking) this.#reference.focus()
    return isLacking
  }

  #onChoose() {
    showStatus('envio', '')
    this.#approximate.checked = false
    if (this.#place.method() !== 'gps') this.#search.stop()
    this.#update()
  }

  #onArrive(shape: UbicacionWay) {
    if (shape === 'enlace') this.#link.read()
    else if (shape === 'descripcion') this.#place.choose('descripcion')
    else if (shape === 'mapa' && !this.#place.point()) this.#place.choose('')
    if (shape === '') this.#search.stop()
    showStatus('envio', '')
    this.#update()
  }

  /** Tells whether the page has a map that can be seen. */
  #hasMap = () => this.#visor !== undefined && !this.#visor.isMissing()

  #update() {
    // The map may open after the form was sent, when another page is already shown.
    if (!this.#form.isConnected) return
    const shape = this.#steps.forma()
    const hasPointOfLink = this.#place.point() !== undefined || this.#place.method() === 'mapa'
    const isPointed = shape === 'gps' || shape === 'mapa' || (shape === 'enlace' && hasPointOfLink)
    if (isPointed) this.#visor?.show()
    else this.#visor?.hide()
    document.getElementById('impreciso')!.hidden = !isPointed || !this.#place.isImprecise()
    document.getElementById('porque-impreciso')!.textContent = askForPin(this.#place.precision() ?? 0, this.#hasMap())
    this.#scheduleDescription()
  }

  /** Describes the location once the pin has not moved for 500 ms, instead of after every small move. */
  #scheduleDescription() {
    clearTimeout(this.#timer)
    this.#timer = window.setTimeout(() => showStatus('estado-lugar', this.#describe()), 500)
  }

  #describe(): string {
    const point = this.#place.point()
    if (!point || this.#steps.forma() === '') return ''
    return describeChoice(point, this.#place.precision(), this.#zone, this.#search.isSearching())
  }
}
