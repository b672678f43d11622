import { useEffect, useRef, useState } from 'preact/hooks'
import { DESCRIPCIONES_DE_SIN_FIRMA } from '../../../../generado/contrato/vocabulario.ts'
import { inGroups } from '../../../../platform/codes/guideCode.ts'
import type { MotivoSinFirma, PoliticaDeEvidencia, Relacion } from '../dominio.ts'
import { evidenciaPara, faltaEvidencia, loQueLleva, pideAparte } from '../evidencia.ts'
import { AvisoDeFalla, conFalla, useFallas } from '../fallas.tsx'
import { Firma, firmaComoPng } from '../firma.tsx'
import { type GeoPosition, ir, useDatos, usePosicion } from '../hooks.ts'
import { metros } from '../lista.ts'
import { faltaRelacion, type Recibe, recibeDe, recibeElMismo, renombrar, trasRenombrar } from '../puerta.ts'
import { encolar, imagen as leerImagen } from '../store/acciones.ts'
import { type Borrador, type ImagenGuardada, type Sesion, sinEspacio } from '../store/base.ts'
import { borradorDe, guardarBorrador, tirarBorrador } from '../store/borradores.ts'
import { explicarFoto, Fotos, useFotos } from './fotos.tsx'
import { SIN_ESPACIO } from './paso.tsx'
import { horaDe, Pregunta, Titulo, Volver } from './piezas.tsx'
import { type EnLaPuerta, lasQueVan, leerPuerta, lejosDe, Otras, QuienRecibe } from './puerta.tsx'

const IMPRECISA_M = 100

/** Screen of a delivery. */
export function Entregar({ sesion, guia }: { sesion: Sesion; guia: string }) {
  const [borrador, poner] = useState<Borrador>()
  useEffect(() => {
    let vivo = true
    borradorDe(guia).then((previo) => {
      // A draft from an earlier version of the page may lack newer fields.
      if (vivo) poner({ ...nuevoBorrador(sesion, guia), ...(previo?.repartidor === sesion.repartidor ? previo : {}) })
    })
    return () => {
      vivo = false
    }
  }, [guia, sesion.repartidor])
  const puerta = useDatos(() => leerPuerta(sesion.repartidor, guia), guia)
  return borrador && puerta ? <Formulario sesion={sesion} inicial={borrador} puerta={puerta} /> : null
}

const nuevoBorrador = ({ repartidor }: Sesion, guia: string): Borrador => ({
  guia,
  repartidor,
  fotos: [],
  otras: [],
  trazos: null,
  sin_firma: '',
  nombre: '',
  documento: '',
  relacion: '',
  descripcion: '',
  ocurrido_en: null,
  zona: null,
  lugar: null,
})

/** Parcel of the delivery that is far from its confirmed place. */
interface Lejana {
  guia: string
  /** Words for the confirmed place in the question to the courier. */
  lugar: string
  distancia: number
}

type Campo = 'fotos' | 'nombre' | 'firma' | 'documento' | 'todo' | `nombre-${string}` | `relacion-${string}`

/** Other parcels of the delivery. A corrected delivery covers only its own parcel, because its time and place are fixed. */
const vanCon = (lista: Borrador, puerta: EnLaPuerta) => (lista.ocurrido_en ? [] : lasQueVan(lista, puerta))

/** Parcels of the delivery with their policies, the form's parcel first. */
const paquetesDe = (lista: Borrador, puerta: EnLaPuerta) => [
  { politica: puerta.politica, elMismo: true },
  ...vanCon(lista, puerta).map(({ otra, candidata }) => ({
    politica: candidata.datos.evidencia,
    elMismo: recibeElMismo(otra, lista),
  })),
]

/** Returns what the form lacks, by field. */
function faltasDe(lista: Borrador, puerta: EnLaPuerta): Partial<Record<Campo, string>> {
  const faltan: Partial<Record<Campo, string>> = {
    ...faltaEvidencia(evidenciaPara(paquetesDe(lista, puerta)), lista),
    ...(lista.nombre.trim() === '' ? { nombre: 'Escriba quién recibió.' } : {}),
  }
  for (const { otra, candidata } of vanCon(lista, puerta)) {
    const elMismo = recibeElMismo(otra, lista)
    if (pideAparte({ politica: candidata.datos.evidencia, elMismo }))
      faltan[`nombre-${otra.guia}`] = 'Pide la firma o el documento de quien lo recibe: entréguelo aparte.'
    if (otra.nombre?.trim() === '') faltan[`nombre-${otra.guia}`] = 'Escriba quién lo recibió.'
    if (faltaRelacion(otra, lista, candidata.paraElMismo)) faltan[`relacion-${otra.guia}`] = 'Elija quién es.'
  }
  return faltan
}

/** Returns the parcels of the delivery that are far from their confirmed places. */
function lejanasDe(lista: Borrador, puerta: EnLaPuerta, aqui: GeoPosition['punto']): Lejana[] {
  if (lista.ocurrido_en) return []
  const { destinatario } = puerta
  const otras = vanCon(lista, puerta).map(({ candidata }) => candidata)
  const lugar = otras.length > 0 && destinatario ? `lugar de ${destinatario}` : 'lugar confirmado'
  return [
    { guia: lista.guia, lugar, punto: puerta.punto },
    ...otras.map(({ guia, titulo, punto }) => ({ guia, lugar: `lugar de ${titulo}`, punto })),
  ].flatMap(({ punto, ...una }) => {
    const distancia = lejosDe(aqui, punto)
    return distancia === null ? [] : [{ ...una, distancia }]
  })
}

/** Draft on the screen and in the phone's storage. */
function useBorrador(inicial: Borrador, decirFalla: (error: unknown) => void) {
  const [borrador, poner] = useState(inicial)
  const actual = useRef(inicial)
  const escribiendo = useRef<Promise<void>>(null)
  const sucio = useRef(false)
  /** Shows a change on the screen at once, and then stores it. Changes during a write cause only one further write. */
  const cambiar = (cambio: Partial<Borrador>) => {
    actual.current = { ...actual.current, ...cambio }
    poner(actual.current)
    sucio.current = true
    escribiendo.current ??= (async () => {
      while (sucio.current) {
        sucio.current = false
        await guardarBorrador(actual.current).catch(decirFalla)
      }
      escribiendo.current = null
    })()
  }
  /** Stores a photo before the screen shows it, so that the photo is never lost. */
  const agregar = async (nueva: ImagenGuardada) => {
    const fotos = [...actual.current.fotos, nueva.id]
    await guardarBorrador({ ...actual.current, fotos }, nueva)
    actual.current = { ...actual.current, fotos }
    poner(actual.current)
  }
  const quitar = async (id: string) => {
    const fotos = actual.current.fotos.filter((otra) => otra !== id)
    actual.current = { ...actual.current, fotos }
    poner(actual.current)
    await guardarBorrador(actual.current, undefined, id).catch(decirFalla)
  }
  /** Changes the receiver. A new name drops the relations that were chosen for the earlier name. */
  const recibir = (nuevo: Recibe) => {
    const { nombre, otras } = actual.current
    cambiar({ ...nuevo, otras: nuevo.nombre === nombre ? otras : trasRenombrar(otras) })
  }
  return { borrador, actual, escribiendo, cambiar, agregar, quitar, recibir }
}
type ConBorrador = ReturnType<typeof useBorrador>

interface PorConfirmar {
  sesion: Sesion
  puerta: EnLaPuerta
  posicion: GeoPosition
  fallar: (fallas: Partial<Record<Campo, string>>) => void
}

/** Confirmation of the delivery: checks the form, asks about parcels that are far away, and stores the deliveries. */
function useConfirmacion({ actual, escribiendo }: ConBorrador, { sesion, puerta, posicion, fallar }: PorConfirmar) {
  const guardando = useRef(false)
  const [lejanas, preguntarPorLejanas] = useState<Lejana[]>([])
  const confirmar = (evento: SubmitEvent) => {
    evento.preventDefault()
    const faltan = faltasDe(actual.current, puerta)
    fallar(faltan)
    if (Object.keys(faltan).length > 0 || guardando.current) return
    const lejos = lejanasDe(actual.current, puerta, posicion.punto)
    if (lejos.length > 0) preguntarPorLejanas(lejos)
    else entregar([])
  }
  /**
   * Stores the deliveries, and goes to the next screen.
   * @param avisadas parcels whose distance the courier was warned of
   */
  const entregar = async (avisadas: readonly Lejana[]) => {
    const ahora = Date.now()
    const lista = actual.current
    const { guia } = lista
    const otras = vanCon(lista, puerta).map(({ otra, candidata }) => ({
      guia: otra.guia,
      recibe: recibeDe(otra, lista, candidata.paraElMismo),
      elMismo: recibeElMismo(otra, lista),
      politica: candidata.datos.evidencia,
    }))
    guardando.current = true
    try {
      // The draft must not be written again afterwards, because it would bring back a parcel that is already delivered.
      await escribiendo.current
      const entregas = [{ guia, recibe: lista, elMismo: true, politica: puerta.politica }, ...otras].map((una) => ({
        ...una,
        avisada: avisadas.find((lejana) => lejana.guia === una.guia)?.distancia ?? null,
      }))
      await guardar(sesion, lista, entregas, posicion, ahora)
      ir(`guia/${guia}/hecho/entregado/${entregas.length}`, true)
    } catch (error) {
      guardando.current = false
      fallar({ todo: sinEspacio(error) ? SIN_ESPACIO : 'El teléfono no pudo guardar la entrega. Pruebe otra vez.' })
    }
  }
  return { confirmar, entregar, lejanas, preguntarPorLejanas }
}

function Formulario({ sesion, inicial, puerta }: { sesion: Sesion; inicial: Borrador; puerta: EnLaPuerta }) {
  const { guia } = inicial
  const [fallas, fallar] = useFallas<Campo>()
  const [preguntando, preguntar] = useState(false)
  const posicion = usePosicion(true)
  const decirFalla = (error: unknown) =>
    fallar({ todo: sinEspacio(error) ? SIN_ESPACIO : 'El teléfono no pudo guardarlo. Pruebe otra vez.' })
  const conBorrador = useBorrador(inicial, decirFalla)
  const { borrador, actual, escribiendo, cambiar, agregar, quitar } = conBorrador
  const { preparando, tomar } = useFotos({
    guia,
    cuantas: () => actual.current.fotos.length,
    agregar,
    fallar: (causa) => {
      const dicho = explicarFoto(causa)
      if (causa === undefined) fallar({})
      else if (dicho) fallar({ fotos: dicho })
      else decirFalla(causa)
    },
  })
  const confirmacion = useConfirmacion(conBorrador, { sesion, puerta, posicion, fallar })
  const { confirmar, entregar, lejanas, preguntarPorLejanas } = confirmacion
  const { fotos_minimas } = evidenciaPara(paquetesDe(borrador, puerta))
  return (
    <form onSubmit={confirmar} noValidate>
      <Encabezado borrador={borrador} />
      <Fotos
        de={fotos_minimas === 10 ? '10' : `${fotos_minimas} a 10`}
        fotos={borrador.fotos.map((id) => ({ id, leer: async () => (await leerImagen(id))?.blob }))}
        preparando={preparando}
        tomar={tomar}
        quitar={quitar}
        falla={fallas.fotos}
      />
      <Receptor conBorrador={conBorrador} puerta={puerta} fallas={fallas} />
      <label for="descripcion">Nota (si hace falta)</label>
      <input id="descripcion" type="text" autocomplete="off" maxLength={300} {...texto(conBorrador, 'descripcion')} />
      {!borrador.ocurrido_en && (
        <>
          <Lugar posicion={posicion} lejos={lejosDe(posicion.punto, puerta.punto)} />
          <Otras
            borrador={borrador}
            puerta={puerta}
            aqui={posicion.punto}
            fallas={fallas}
            alCambiar={(cambio) => cambiar({ otras: cambio(actual.current.otras) })}
          />
        </>
      )}
      <button type="button" class="discreto" onClick={() => preguntar(true)}>
        Descartar
      </button>
      <div class="barra pegada">
        <AvisoDeFalla de="todo">{fallas.todo}</AvisoDeFalla>
        <button type="submit" class="principal" aria-disabled={preparando > 0 || undefined}>
          Confirmar la entrega
        </button>
      </div>
      {lejanas.length > 0 && (
        <PreguntaPorLejos
          lejanas={lejanas}
          cerrar={() => preguntarPorLejanas([])}
          alAceptar={() => entregar(lejanas)}
        />
      )}
      {preguntando && (
        <PreguntaPorDescartar guia={guia} escribiendo={() => escribiendo.current} cerrar={() => preguntar(false)} />
      )}
    </form>
  )
}

function Encabezado({ borrador: { guia, ocurrido_en, zona } }: { borrador: Borrador }) {
  return (
    <>
      <Volver a={`guia/${guia}`}>
        <span class="codigo">{inGroups(guia)}</span>
      </Volver>
      <Titulo>Entregar</Titulo>
      {ocurrido_en && <p class="nota">Corrige la entrega de las {horaDe(ocurrido_en, zona)}.</p>}
    </>
  )
}

/** Returns the attributes of an input that writes to a field of the draft. */
const texto = ({ borrador, cambiar }: ConBorrador, campo: 'documento' | 'descripcion') => ({
  value: borrador[campo],
  onInput: ({ currentTarget }: { currentTarget: HTMLInputElement }) => cambiar({ [campo]: currentTarget.value }),
})

/** Part of the form about the receiver: name, relation, signature and document, as the merchant needs them. */
function Receptor(props: { conBorrador: ConBorrador; puerta: EnLaPuerta; fallas: Partial<Record<Campo, string>> }) {
  const { conBorrador, puerta, fallas } = props
  const { borrador, actual, cambiar, recibir } = conBorrador
  const { destinatario } = puerta
  const { firma, documento } = evidenciaPara(paquetesDe(borrador, puerta))
  return (
    <>
      <fieldset>
        <legend>Quién recibe</legend>
        <p class="nota">{document.getElementById('app')!.dataset.privacidad}</p>
        <QuienRecibe
          sufijo=""
          valor={borrador}
          destinatario={destinatario}
          oferta={(nombre) => nombre}
          rotulos={{ nombre: 'Nombre', relacion: 'Quién es', sinRelacion: 'Sin decir' }}
          fallas={{ nombre: fallas.nombre }}
          alRenombrar={(nombre) => recibir(renombrar(actual.current, nombre, destinatario))}
          alRelacionar={(relacion) => cambiar({ relacion })}
          alSerDestinatario={(nombre) => recibir({ nombre, relacion: 'destinatario' })}
        />
      </fieldset>

      {firma !== 'no' && (
        <fieldset>
          <legend>
            Firma <small>({firma === 'obligatoria' ? 'la pide el comercio' : 'si puede'})</small>
          </legend>
          <Firma
            trazos={borrador.trazos}
            alFirmar={(trazos) => cambiar(trazos ? { trazos, sin_firma: '' } : { trazos })}
          />
          {firma === 'obligatoria' && !borrador.trazos && (
            <SinFirma
              valor={borrador.sin_firma}
              falla={fallas.firma}
              alElegir={(sin_firma) => cambiar({ sin_firma })}
            />
          )}
        </fieldset>
      )}

      {documento !== 'no' && (
        <>
          <label for="documento">
            {documento === 'obligatoria' ? 'Número del documento' : 'Documento (si lo mostró)'}
          </label>
          <input
            id="documento"
            type="text"
            autocomplete="off"
            maxLength={40}
            {...conFalla('documento', fallas.documento)}
            {...texto(conBorrador, 'documento')}
          />
          <AvisoDeFalla de="documento">{fallas.documento}</AvisoDeFalla>
        </>
      )}
    </>
  )
}

function PreguntaPorDescartar(props: { guia: string; escribiendo: () => Promise<void> | null; cerrar: () => void }) {
  const { guia, escribiendo, cerrar } = props
  return (
    <Pregunta
      titulo="¿Borrar lo que llenó, con sus fotos?"
      si="Borrar"
      no="Seguir llenando"
      cerrar={cerrar}
      alAceptar={async () => {
        await escribiendo()
        await tirarBorrador(guia)
        ir(`guia/${guia}`, true)
      }}
    />
  )
}

/** Reasons for a missing signature that the courier can choose. */
function SinFirma(props: { valor: string; falla: string | undefined; alElegir: (motivo: string) => void }) {
  const { valor, falla, alElegir } = props
  return (
    <>
      <label for="sin-firma">Si no firma, ¿por qué?</label>
      <select
        id="sin-firma"
        {...conFalla('sin-firma', falla)}
        value={valor}
        onChange={({ currentTarget }) => alElegir(currentTarget.value)}
      >
        <option value="">Elija</option>
        {Object.entries(DESCRIPCIONES_DE_SIN_FIRMA).map(([motivo, dicho]) => (
          <option key={motivo} value={motivo}>
            {dicho}
          </option>
        ))}
      </select>
      <AvisoDeFalla de="sin-firma">{falla}</AvisoDeFalla>
    </>
  )
}

/** Question before parcels are handed over far from their confirmed places, with each distance. */
function PreguntaPorLejos(props: { lejanas: readonly Lejana[]; cerrar: () => void; alAceptar: () => void }) {
  const { lejanas, cerrar, alAceptar } = props
  const dichas = lejanas.map(({ guia, lugar, distancia }) => ({ guia, dicho: `a ${metros(distancia)} del ${lugar}` }))
  const titulo = dichas.length === 1 ? `Está ${dichas[0]!.dicho}` : `Está lejos de ${dichas.length} lugares confirmados`
  return (
    <Pregunta titulo={titulo} si="Entregar aquí" no="Volver" cerrar={cerrar} alAceptar={alAceptar}>
      {dichas.length > 1 && (
        <ul>
          {dichas.map(({ guia, dicho }) => (
            <li key={guia}>
              Está {dicho} <span class="codigo">({inGroups(guia)})</span>
            </li>
          ))}
        </ul>
      )}
      <p>Si entrega aquí, la prueba dirá a qué distancia, y que se le avisó.</p>
    </Pregunta>
  )
}

/** Delivery of one parcel, as it enters the queue. */
interface Entrega {
  guia: string
  recibe: Recibe
  /** True if the form's receiver also receives this parcel. The document and the signature belong to that person. */
  elMismo: boolean
  /** Evidence that the merchant needs; undefined if the phone does not know. */
  politica: PoliticaDeEvidencia | undefined
  /** Distance that the courier was warned of, in metres; null without a warning. */
  avisada: number | null
}

/**
 * Stores a delivery for each parcel. Each has its own copies of the images, so that a refused delivery does not hold
 * back others.
 */
async function guardar(
  sesion: Sesion,
  borrador: Borrador,
  entregas: readonly Entrega[],
  { punto }: GeoPosition,
  ahora: number,
) {
  const { fotos, trazos, sin_firma, documento, descripcion, ocurrido_en, lugar } = borrador
  const png = trazos ? await firmaComoPng(trazos) : undefined
  const tomadas = await Promise.all(entregas.length > 1 ? fotos.map(leerImagen) : [])
  const imagenes: ImagenGuardada[] = []
  const copiar = (de: string, blob: Blob, capturado_en: string | null) => {
    const id = crypto.randomUUID()
    imagenes.push({ id, guia: de, blob, capturado_en })
    return { imagen: id }
  }
  const opcional = <C extends string>(campo: C, valor: string) =>
    (valor.trim() ? { [campo]: valor.trim() } : {}) as Partial<Record<C, string>>
  const una = ({ guia, recibe: { nombre, relacion }, elMismo, politica, avisada }: Entrega) => {
    const lleva = loQueLleva({ politica, elMismo })
    return {
      repartidor: sesion.repartidor,
      nombre: sesion.nombre,
      guia,
      estado: 'entregado' as const,
      entrega: {
        recibido_por: {
          nombre: nombre.trim(),
          ...(lleva.documento ? opcional('documento', documento) : {}),
          ...(relacion ? { relacion: relacion as Relacion } : {}),
        },
        // A corrected delivery keeps its position, because the courier may be elsewhere by now.
        ...((ocurrido_en ? lugar : punto) ?? {}),
        ...(avisada === null ? {} : { distancia_avisada_m: avisada }),
        ...opcional('descripcion', descripcion),
        ...(lleva.porque && !png && sin_firma ? { sin_firma: sin_firma as MotivoSinFirma } : {}),
        // If the phone does not know what the merchant needs, leaves out `evidencia`.
        ...(politica ? { evidencia: politica } : {}),
      },
      fotos:
        guia === borrador.guia
          ? fotos.map((imagen) => ({ imagen }))
          : tomadas.flatMap((foto) => (foto ? [copiar(guia, foto.blob, foto.capturado_en)] : [])),
      firma: png && lleva.firma ? copiar(guia, png, null) : null,
      trazos: png && lleva.firma ? trazos : null,
    }
  }
  await encolar(entregas.map(una), ahora, ocurrido_en, imagenes)
}

function Lugar({ posicion: { estado, punto }, lejos }: { posicion: GeoPosition; lejos: number | null }) {
  const textos = {
    buscando: 'Buscando dónde está…',
    denegada: 'Sin permiso para ver dónde está: la entrega vale igual, sin el lugar.',
    sin: 'El teléfono no encuentra dónde está: la entrega vale igual, sin el lugar.',
    lista: punto
      ? `Lugar anotado, con precisión de unos ${Math.round(punto.precision_m)} m.${punto.precision_m > IMPRECISA_M ? ' Es poco exacto: si puede, salga a un lugar abierto.' : ''}`
      : '',
  }
  return (
    <p class={lejos !== null ? 'lugar lejos' : estado === 'lista' ? 'lugar listo' : 'lugar'} role="status">
      {lejos !== null && <strong>Está a {metros(lejos)} del lugar confirmado. </strong>}
      {textos[estado]}
    </p>
  )
}
