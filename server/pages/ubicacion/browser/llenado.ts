// Connects the parts of the form while the recipient fills it in: the location, the map, the link, the steps and the
// search for the position.
import { DESCRIPCION_CORTA, enMetros, MINIMO_DE_DESCRIPCION, pedirPin } from '../precision.ts'
import { prepararMapa, type Visor } from './abrirMapa.ts'
import { type CampoDeEnlace, prepararEnlace } from './enlace.ts'
import { campo, culpar, decirEstado } from './formulario.ts'
import { type LugarElegido, prepararLugar } from './lugar.ts'
import { leerZona, situar, type Zona } from './palabras.ts'
import { type FormaDeUbicar, type Pasos, prepararPasos } from './pasos.ts'
import { type PositionSearch, prepararPosicion } from './posicion.ts'

/** Form in which the recipient gives the location, while it is filled in. */
export class Llenado {
  readonly #zona: Zona
  readonly #lugar: LugarElegido
  readonly #visor: Visor | undefined
  readonly #enlace: CampoDeEnlace
  readonly #pasos: Pasos
  readonly #busqueda: PositionSearch
  readonly #referencia: HTMLInputElement
  readonly #aproximado = document.querySelector<HTMLInputElement>('#aproximado')!
  readonly #formulario: HTMLFormElement
  #reloj: number | undefined

  constructor(formulario: HTMLFormElement) {
    this.#formulario = formulario
    this.#referencia = campo(formulario, 'referencia')!
    this.#zona = leerZona(formulario)
    this.#lugar = prepararLugar(formulario, () => this.#alElegir())
    this.#visor = prepararMapa(this.#lugar, () => this.#actualizar(), this.#zona)
    this.#enlace = prepararEnlace(this.#lugar)
    this.#pasos = prepararPasos(formulario, (forma) => this.#alLlegar(forma))
    this.#busqueda = prepararPosicion(this.#lugar, this.#pasos, () => this.#contar())
    this.#referencia.addEventListener('input', () => culpar('referencia', ''))
    // The page continues with what the recipient filled in before, whether restored from this tab or returned by the
    // server.
    this.#pasos.empezar(this.#lugar.metodo() || (campo(formulario, 'enlace')!.value ? 'enlace' : ''))
    this.#actualizar()
  }

  /**
   * Shows what is missing, at the place where it is missing.
   * @returns false if nothing is missing
   */
  queFalta(): boolean {
    const forma = this.#pasos.forma()
    if (forma === 'descripcion') return this.#faltaDescripcion()
    if (forma === 'enlace' && this.#lugar.metodo() !== 'mapa') {
      const falta = this.#enlace.queFalta() !== ''
      if (falta) document.getElementById('enlace')!.focus()
      return falta
    }
    if (!this.#lugar.punto()) {
      const como = this.#conMapa() ? 'Toque su casa en el mapa para poner el pin.' : 'Diga el lugar de otra forma.'
      decirEstado('envio', `Falta el lugar. ${como}`, 'problema')
      return true
    }
    this.#busqueda.parar()
    if (!this.#lugar.esImprecisa() || this.#aproximado.checked) return false
    decirEstado('envio', 'Mueva el pin hasta su puerta, o marque que está bien.', 'problema')
    this.#aproximado.focus()
    return true
  }

  #faltaDescripcion(): boolean {
    const falta = this.#referencia.value.trim().length < MINIMO_DE_DESCRIPCION
    culpar('referencia', falta ? DESCRIPCION_CORTA : '')
    if (falta) this.#referencia.focus()
    return falta
  }

  #alElegir() {
    decirEstado('envio', '')
    this.#aproximado.checked = false
    if (this.#lugar.metodo() !== 'gps') this.#busqueda.parar()
    this.#actualizar()
  }

  #alLlegar(forma: FormaDeUbicar) {
    if (forma === 'enlace') this.#enlace.leer()
    else if (forma === 'descripcion') this.#lugar.elegir('descripcion')
    else if (forma === 'mapa' && !this.#lugar.punto()) this.#lugar.elegir('')
    if (forma === '') this.#busqueda.parar()
    decirEstado('envio', '')
    this.#actualizar()
  }

  /** Tells whether the page has a map that can be seen. */
  #conMapa = () => this.#visor !== undefined && !this.#visor.falta()

  #actualizar() {
    // The map may open after the form was sent, when another page is already shown.
    if (!this.#formulario.isConnected) return
    const forma = this.#pasos.forma()
    const senalado = forma === 'gps' || forma === 'mapa' || (forma === 'enlace' && this.#lugar.punto() !== undefined)
    if (senalado) this.#visor?.mostrar()
    else this.#visor?.ocultar()
    document.getElementById('impreciso')!.hidden = !senalado || !this.#lugar.esImprecisa()
    document.getElementById('porque-impreciso')!.textContent = pedirPin(this.#lugar.precision() ?? 0, this.#conMapa())
    this.#contar()
  }

  /** Describes the location once the pin has not moved for 500 ms, instead of after every small move. */
  #contar() {
    clearTimeout(this.#reloj)
    this.#reloj = window.setTimeout(() => decirEstado('estado-lugar', this.#describir()), 500)
  }

  #describir(): string {
    const punto = this.#lugar.punto()
    if (!punto || this.#pasos.forma() === '') return ''
    const precision = this.#lugar.precision()
    const que =
      precision === undefined ? 'El pin está' : `Su ubicación, con precisión de unos ${enMetros(precision)}, está`
    const sigue = this.#busqueda.sigue() ? ' Seguimos buscando una mejor…' : ''
    return `${que} ${situar(punto, this.#zona) || 'donde la ve'}.${sigue}`
  }
}
