import type {
  EntregaParaRegistrar,
  EvidenciaDePrueba,
  EvidenciaQueFalta,
  Falla,
  PoliticaDeEvidencia,
} from '../../generado/contrato/tipos/index.ts'
import { problemOfFaults } from '../../platform/errors.ts'

/** Members of a delivery to which a merchant's evidence policy applies. */
type Presentada = Pick<EntregaParaRegistrar, 'recibido_por' | 'fotos' | 'firma' | 'sin_firma'>

/** Evidence policies that apply to a delivery. */
export interface Exigencia {
  /** Policy of the merchant at present. */
  politica: PoliticaDeEvidencia
  /** Policy that the courier's page applied at the door; undefined if the page did not know of any policy. */
  pedida: PoliticaDeEvidencia | undefined
}

/**
 * Checks a delivery against its merchant's evidence policy. A delivery with all evidence that the page asked for at the
 * door is accepted, even if the merchant needs more now. The result then lists what is missing.
 * @returns the delivery without what the merchant does not want to be stored, and the result of the check
 * @throws Problema 422 that names each member that is missing or not allowed
 */
export function juzgarEvidencia<T extends Presentada>(
  politica: PoliticaDeEvidencia,
  pedida: Exigencia['pedida'],
  entrega: T,
): { admitida: T; juicio: EvidenciaDePrueba } {
  const { firma, sin_firma } = entrega
  if (firma !== undefined && sin_firma !== undefined) throw problemOfFaults('validacion', [FIRMA_Y_PORQUE])
  const defectos = defectosDe(politica, entrega)
  const cumplioEnLaPuerta = pedida === undefined || defectosDe(pedida, entrega).length === 0
  if (defectos.length > 0 && !cumplioEnLaPuerta) {
    throw problemOfFaults(
      'validacion',
      defectos.map(({ falla }) => falla),
    )
  }
  const faltas = defectos.flatMap(({ falta }) => falta ?? [])
  const pagina_anterior = pedida === undefined || defectos.length > 0
  return { admitida: sinLoNoAdmitido(politica, entrega), juicio: { ...politica, faltas, pagina_anterior } }
}

const FIRMA_Y_PORQUE: Falla = {
  campo: '/sin_firma',
  codigo: 'incompatible',
  mensaje: 'sobra, porque la entrega trae la firma; omita una de las dos',
}

/** Violation of an evidence policy; `falta` names missing evidence. */
interface Defecto {
  falla: Falla
  falta?: EvidenciaQueFalta
}

function defectosDe(politica: PoliticaDeEvidencia, entrega: Presentada): Defecto[] {
  const { fotos_minimas, firma: exigida, documento: exigido } = politica
  const { recibido_por, fotos, firma, sin_firma } = entrega
  const { documento } = recibido_por
  const defectos: Defecto[] = []
  const falta = (cual: EvidenciaQueFalta, campo: string, codigo: Falla['codigo'], mensaje: string) =>
    defectos.push({ falta: cual, falla: { campo, codigo, mensaje } })
  const sobra = (campo: string, que: string) =>
    defectos.push({
      falla: { campo, codigo: 'incompatible', mensaje: `el comercio no admite ${que} en sus entregas; omítalo` },
    })
  if (fotos.length < fotos_minimas) {
    const mensaje = `el comercio pide ${fotos_minimas} fotos por lo menos y trae ${fotos.length}; suba las demás con …/archivos`
    falta('fotos', '/fotos', 'largo_invalido', mensaje)
  }
  if (exigida === 'obligatoria' && firma === undefined && sin_firma === undefined) {
    const mensaje =
      'falta, y el comercio la pide; súbala con …/archivos, o diga en sin_firma por qué no la hay: no_puede_firmar, se_nego o sin_contacto'
    falta('firma', '/firma', 'requerido', mensaje)
  }
  if (exigida === 'no' && firma !== undefined) sobra('/firma', 'la firma')
  if (exigida === 'no' && sin_firma !== undefined) sobra('/sin_firma', 'la firma')
  if (exigido === 'obligatoria' && documento === undefined) {
    const mensaje = 'falta, y el comercio lo pide; escriba el número del documento que mostró quien recibió'
    falta('documento', '/recibido_por/documento', 'requerido', mensaje)
  }
  if (exigido === 'no' && documento !== undefined) sobra('/recibido_por/documento', 'el número del documento')
  return defectos
}

/**
 * Removes the members that the merchant does not allow, so that they are not stored. Only outdated pages still send
 * them.
 */
function sinLoNoAdmitido<T extends Presentada>(politica: PoliticaDeEvidencia, entrega: T): T {
  const { firma, sin_firma, recibido_por, ...resto } = entrega
  const { documento, ...quien } = recibido_por
  return {
    ...resto,
    ...(politica.firma === 'no' ? {} : { firma, sin_firma }),
    recibido_por: politica.documento === 'no' ? quien : recibido_por,
  } as T
}
