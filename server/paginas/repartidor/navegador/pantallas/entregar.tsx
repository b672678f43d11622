import { useEffect, useRef, useState } from 'preact/hooks'
import { enGrupos } from '../../../../codigos/codigoDeGuia.ts'
import { distanciaEntre } from '../../../../mapas/punto.ts'
import { encolar, acciones as leerAcciones, imagen as leerImagen } from '../almacen/acciones.ts'
import { type Borrador, type Imagen, type Sesion, sinEspacio } from '../almacen/base.ts'
import { borradorDe, guardarBorrador, tirarBorrador } from '../almacen/borradores.ts'
import { guiasDe } from '../almacen/guias.ts'
import { RELACIONES, type Relacion } from '../dominio.ts'
import { conFalla, Falla, useFallas } from '../fallas.tsx'
import { Firma, firmaComoPng } from '../firma.tsx'
import { ir, type Posicion, useDatos, usePosicion } from '../hooks.ts'
import { esSuya, filasDe, metros, mismaPuerta } from '../lista.ts'
import { explicarFoto, Fotos, useFotos } from './fotos.tsx'
import { SIN_ESPACIO } from './paso.tsx'
import { horaDe, Pregunta, Titulo, Volver } from './piezas.tsx'

const IMPRECISA_M = 100
/** From here on, in metres from the confirmed place, handing over is asked about. */
const LEJOS_M = 300

export function Entregar({ sesion, guia }: { sesion: Sesion; guia: string }) {
  const [borrador, poner] = useState<Borrador>()
  useEffect(() => {
    let vivo = true
    borradorDe(guia).then((previo) => {
      if (vivo) poner(previo?.repartidor === sesion.repartidor ? previo : nuevoBorrador(sesion, guia))
    })
    return () => {
      vivo = false
    }
  }, [guia, sesion.repartidor])
  return borrador ? <Formulario sesion={sesion} inicial={borrador} /> : null
}

const nuevoBorrador = ({ repartidor }: Sesion, guia: string): Borrador => ({
  guia,
  repartidor,
  fotos: [],
  con: [],
  trazos: null,
  nombre: '',
  documento: '',
  relacion: '',
  descripcion: '',
  ocurrido_en: null,
  zona: null,
  lugar: null,
})

function Formulario({ sesion, inicial }: { sesion: Sesion; inicial: Borrador }) {
  const { guia } = inicial
  const [borrador, poner] = useState(inicial)
  const actual = useRef(inicial)
  const [fallas, fallar] = useFallas<'fotos' | 'nombre' | 'todo'>()
  const [preguntando, preguntar] = useState(false)
  const guardando = useRef(false)
  const posicion = usePosicion(true)
  const puerta = useDatos(() => leerPuerta(sesion.repartidor, guia), guia)
  const destinatario = puerta?.destinatario
  const [lejos, preguntarPorLejos] = useState<number | null>(null)
  const distancia = posicion.punto && puerta?.lugar ? distanciaEntre(posicion.punto, puerta.lugar) : null

  const decirFalla = (error: unknown) =>
    fallar({ todo: sinEspacio(error) ? SIN_ESPACIO : 'El teléfono no pudo guardarlo. Pruebe otra vez.' })
  const escribiendo = useRef<Promise<void>>(null)
  const sucio = useRef(false)
  /** Shown at once, and on the phone as fast as it writes: while one write lasts, later ones become one. */
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
  /** A photo is on the phone before it is on the screen. */
  const agregar = async (nueva: Imagen) => {
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
  const confirmar = (evento: SubmitEvent) => {
    evento.preventDefault()
    const lista = actual.current
    const faltan = {
      ...(lista.fotos.length === 0 ? { fotos: 'Tome una foto por lo menos.' } : {}),
      ...(lista.nombre.trim() === '' ? { nombre: 'Escriba quién recibió.' } : {}),
    }
    fallar(faltan)
    if (Object.keys(faltan).length > 0 || guardando.current) return
    // One that is corrected happened where it happened.
    if (distancia !== null && distancia > LEJOS_M && !lista.ocurrido_en) preguntarPorLejos(distancia)
    else entregar(null)
  }
  /** @param avisada the metres from the confirmed place of which he was warned */
  const entregar = async (avisada: number | null) => {
    const ahora = Date.now()
    const lista = actual.current
    guardando.current = true
    try {
      // Or else a late write would bring back what is done with.
      await escribiendo.current
      const con = lista.con.filter((otra) => puerta?.otras.some((una) => una.guia === otra))
      await guardar(sesion, { ...lista, con }, posicion, ahora, avisada)
      ir(`guia/${guia}/hecho/entregado/${1 + con.length}`, true)
    } catch (error) {
      guardando.current = false
      fallar({ todo: sinEspacio(error) ? SIN_ESPACIO : 'El teléfono no pudo guardar la entrega. Pruebe otra vez.' })
    }
  }
  const texto = (campo: 'nombre' | 'documento' | 'descripcion') => ({
    value: borrador[campo],
    onInput: ({ currentTarget }: { currentTarget: HTMLInputElement }) => cambiar({ [campo]: currentTarget.value }),
  })
  return (
    <form onSubmit={confirmar} noValidate>
      <Volver a={`guia/${guia}`}>
        <span class="codigo">{enGrupos(guia)}</span>
      </Volver>
      <Titulo>Entregar</Titulo>
      {borrador.ocurrido_en && (
        <p class="nota">Corrige la entrega de las {horaDe(borrador.ocurrido_en, borrador.zona)}.</p>
      )}

      <Fotos
        de="1 a 10"
        fotos={borrador.fotos.map((id) => ({ id, leer: async () => (await leerImagen(id))?.blob }))}
        preparando={preparando}
        tomar={tomar}
        quitar={quitar}
        falla={fallas.fotos}
      />

      <fieldset>
        <legend>Quién recibe</legend>
        <p class="nota">{document.getElementById('app')!.dataset.privacidad}</p>
        {destinatario && borrador.nombre !== destinatario && (
          <button type="button" onClick={() => cambiar({ nombre: destinatario, relacion: 'destinatario' })}>
            {destinatario}
          </button>
        )}
        <label for="nombre">Nombre</label>
        <input
          id="nombre"
          type="text"
          autocomplete="off"
          autocapitalize="words"
          maxLength={120}
          {...conFalla('nombre', fallas.nombre)}
          {...texto('nombre')}
        />
        <Falla de="nombre">{fallas.nombre}</Falla>
        <label for="relacion">Quién es</label>
        <select
          id="relacion"
          value={borrador.relacion}
          onChange={({ currentTarget }) => cambiar({ relacion: currentTarget.value })}
        >
          <option value="">Sin decir</option>
          {Object.entries(RELACIONES).map(([valor, dicho]) => (
            <option key={valor} value={valor}>
              {dicho}
            </option>
          ))}
        </select>
      </fieldset>

      <fieldset>
        <legend>
          Firma <small>(si puede)</small>
        </legend>
        <Firma trazos={borrador.trazos} alFirmar={(trazos) => cambiar({ trazos })} />
      </fieldset>

      <label for="documento">Documento (si lo mostró)</label>
      <input id="documento" type="text" autocomplete="off" maxLength={40} {...texto('documento')} />
      <label for="descripcion">Nota (si hace falta)</label>
      <input id="descripcion" type="text" autocomplete="off" maxLength={300} {...texto('descripcion')} />
      {!borrador.ocurrido_en && <Lugar posicion={posicion} distancia={distancia} />}
      {puerta && puerta.otras.length > 0 && !borrador.ocurrido_en && (
        <fieldset>
          <legend>También en esta puerta</legend>
          <p class="suave">Lo que marque se entrega a la misma persona, con estas fotos y esta firma.</p>
          {puerta.otras.map(({ guia: otra, titulo, datos }) => (
            <label key={otra} class="marcable">
              <input
                type="checkbox"
                checked={borrador.con.includes(otra)}
                onChange={({ currentTarget: { checked } }) =>
                  cambiar({ con: [...actual.current.con.filter((una) => una !== otra), ...(checked ? [otra] : [])] })
                }
              />
              <span>
                <strong>{titulo}</strong> <span class="codigo">{enGrupos(otra)}</span>
                {datos?.contenido && <small>{datos.contenido}</small>}
              </span>
            </label>
          ))}
        </fieldset>
      )}
      <button type="button" class="discreto" onClick={() => preguntar(true)}>
        Descartar
      </button>
      <div class="barra">
        <Falla de="todo">{fallas.todo}</Falla>
        <button type="submit" class="principal" aria-disabled={preparando > 0 || undefined}>
          Confirmar la entrega
        </button>
      </div>
      {lejos !== null && (
        <Pregunta
          titulo={`Está a ${metros(lejos)} del lugar confirmado`}
          si="Entregar aquí"
          no="Volver"
          alDecidir={(si) => {
            preguntarPorLejos(null)
            if (si) entregar(lejos)
          }}
        >
          <p>Si entrega aquí, la prueba dirá a qué distancia, y que se le avisó.</p>
        </Pregunta>
      )}
      {preguntando && (
        <Pregunta
          titulo="¿Borrar lo que llenó, con sus fotos?"
          si="Borrar"
          no="Seguir llenando"
          alDecidir={async (si) => {
            preguntar(false)
            if (!si) return
            await escribiendo.current
            await tirarBorrador(guia)
            ir(`guia/${guia}`, true)
          }}
        />
      )}
    </form>
  )
}

/** A delivery of each guide, with its own copies of the pictures: what becomes of one keeps back no other. */
async function guardar(
  sesion: Sesion,
  borrador: Borrador,
  { punto }: Posicion,
  ahora: number,
  distancia_avisada_m: number | null,
) {
  const { guia, fotos, con, trazos, nombre, documento, relacion, descripcion, ocurrido_en, lugar } = borrador
  const png = trazos ? await firmaComoPng(trazos) : undefined
  const tomadas = await Promise.all(con.length > 0 ? fotos.map(leerImagen) : [])
  const imagenes: Imagen[] = []
  const copiar = (de: string, blob: Blob, capturado_en: string | null) => {
    const id = crypto.randomUUID()
    imagenes.push({ id, guia: de, blob, capturado_en })
    return { imagen: id }
  }
  const opcional = <C extends string>(campo: C, valor: string) =>
    (valor.trim() ? { [campo]: valor.trim() } : {}) as Partial<Record<C, string>>
  const entrega = {
    recibido_por: {
      nombre: nombre.trim(),
      ...opcional('documento', documento),
      ...(relacion ? { relacion: relacion as Relacion } : {}),
    },
    // Where it happened, which is no longer here when it is corrected later.
    ...((ocurrido_en ? lugar : punto) ?? {}),
    ...(distancia_avisada_m === null ? {} : { distancia_avisada_m }),
    ...opcional('descripcion', descripcion),
  }
  const una = (de: string) => ({
    repartidor: sesion.repartidor,
    nombre: sesion.nombre,
    guia: de,
    estado: 'entregado' as const,
    entrega,
    fotos:
      de === guia
        ? fotos.map((imagen) => ({ imagen }))
        : tomadas.flatMap((foto) => (foto ? [copiar(de, foto.blob, foto.capturado_en)] : [])),
    firma: png ? copiar(de, png, null) : null,
    trazos: png ? trazos : null,
  })
  await encolar([guia, ...con].map(una), ahora, ocurrido_en, imagenes)
}

/** What the form must know of where it stands: whose door it is, where, and what else goes there. */
async function leerPuerta(repartidor: string, guia: string) {
  const [guias, acciones] = await Promise.all([guiasDe(repartidor), leerAcciones()])
  const filas = filasDe(guias, acciones)
  const esta = filas.find((fila) => fila.guia === guia)
  const otras = filas.filter((fila) => esta && fila.guia !== guia && esSuya(fila) && mismaPuerta(esta, fila))
  return { destinatario: esta?.datos?.destinatario ?? null, lugar: esta?.rumbo?.lugar ?? null, otras }
}

function Lugar({ posicion: { estado, punto }, distancia }: { posicion: Posicion; distancia: number | null }) {
  const textos = {
    buscando: 'Buscando dónde está…',
    denegada: 'Sin permiso para ver dónde está: la entrega vale igual, sin el lugar.',
    sin: 'El teléfono no encuentra dónde está: la entrega vale igual, sin el lugar.',
    lista: punto
      ? `Lugar anotado, con precisión de unos ${Math.round(punto.precision_m)} m.${punto.precision_m > IMPRECISA_M ? ' Es poco exacto: si puede, salga a un lugar abierto.' : ''}`
      : '',
  }
  const lejos = distancia !== null && distancia > LEJOS_M
  return (
    <p class={lejos ? 'lugar lejos' : estado === 'lista' ? 'lugar listo' : 'lugar'} role="status">
      {lejos && <strong>Está a {metros(distancia)} del lugar confirmado. </strong>}
      {textos[estado]}
    </p>
  )
}
