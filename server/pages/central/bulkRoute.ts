import { randomUUID } from 'node:crypto'
import type { Request } from 'express'
import type { CallOperation } from '../../api/contract/calls.ts'
import { normalizeGuideCode } from '../../platform/codes/guideCode.ts'
import { Problema } from '../../platform/errors.ts'
import { FOREIGN_FORM } from '../form.ts'
import type { PageRequest, Sheet } from '../page.ts'
import type { GuideThing } from './actions.ts'
import {
  BULK_FIELDS,
  bulkActionOf,
  type Chosen,
  confirmPage,
  MAX_CHOSEN,
  MAX_ITEMS_PER_SLICE,
  unchosenPage,
  type Verdict,
  verdictPage,
} from './bulk.ts'
import { formOf, readCouriers } from './calls.ts'
import { callAction, sentenceOf } from './forms.ts'
import type { Office } from './shell.ts'

type BulkValues = Record<(typeof BULK_FIELDS)[number], string> & { guia: string[] }

/**
 * Answers `/central/varias`. First asks for the details of an action on several guides, then takes the action and shows
 * the result of each guide.
 */
export async function showBulk(call: CallOperation, { req, reading }: PageRequest, office: Office): Promise<Sheet> {
  if (!office.scopes.includes('operar'))
    return { status: 403, ...unchosenPage(office, '', 'Con sus permisos solo puede ver.') }
  if (reading) return ask(call, req, office)
  const values: BulkValues | undefined = await formOf(req, BULK_FIELDS, ['guia'])
  if (!values) return { status: 400, ...FOREIGN_FORM }
  const chosen = chosenOf(values.accion, values.guia, values.volver)
  const why = whyNot(chosen)
  if (why !== undefined) return { status: 422, ...unchosenPage(office, chosen.returnTo, why) }
  return { status: 200, ...verdictPage(office, chosen, await doAll(call, req, chosen, values)) }
}

async function ask(call: CallOperation, req: Request, office: Office): Promise<Sheet> {
  const { accion, guia, todas, pagina, volver: returnTo } = req.query
  const ticked = todas === undefined ? [guia].flat() : String(pagina).split(' ')
  const chosen = chosenOf(String(accion), ticked, String(returnTo ?? ''))
  const why = whyNot(chosen)
  if (why !== undefined) return { status: 422, ...unchosenPage(office, chosen.returnTo, why) }
  return { status: 200, ...confirmPage(office, chosen, await readCouriers(call, req), randomUUID()) }
}

/**
 * Addresses below `/central/` that show a list. Only these are allowed as the page to return to, so that the link never
 * leads to another site.
 */
const LISTS = /^(?:guias(?:\?[\w%&=.~*+-]*)?|avisos|reparto\/rep_\w+)?$/

const chosenOf = (accion: string, typed: readonly unknown[], returnTo: string): Chosen => ({
  accion,
  guias: [...new Set(typed.flatMap((one) => (typeof one === 'string' && normalizeGuideCode(one)) || []))],
  returnTo: LISTS.test(returnTo) ? returnTo : '',
})

/** Returns the reason why no action is possible; undefined if one is. */
function whyNot({ accion, guias }: Chosen): string | undefined {
  if (!bulkActionOf(accion)) return 'Elija qué hacer con las guías.'
  if (guias.length === 0) return 'No eligió ninguna guía. Marque las casillas de las que quiera.'
  return guias.length > MAX_CHOSEN ? `Son ${guias.length}. Elija ${MAX_CHOSEN} como mucho.` : undefined
}

/**
 * Takes the action on each guide, one slice at a time. Each guide has its own idempotency key, so repeating the form
 * changes nothing more.
 */
async function doAll(
  call: CallOperation,
  req: Request,
  { accion, guias }: Chosen,
  values: BulkValues,
): Promise<Verdict[]> {
  const { operation, body } = bulkActionOf(accion)!
  const doOne = async (guia: string): Promise<Verdict> => {
    const own = { ...values, secuencia: '' }
    try {
      // Actions on several guides read nothing of the guides except their codes.
      await callAction(call, req, operation, {
        path: { guia },
        body: body(own, { guia } as GuideThing) ?? {},
        key: `${values.idempotencia}-${guia}`,
      })
      return { guia, refused: undefined }
    } catch (error) {
      if (error instanceof Problema) return { guia, refused: sentenceOf(error) }
      throw error
    }
  }
  const verdicts: Verdict[] = []
  for (let i = 0; i < guias.length; i += MAX_ITEMS_PER_SLICE)
    verdicts.push(...(await Promise.all(guias.slice(i, i + MAX_ITEMS_PER_SLICE).map(doOne))))
  return verdicts
}
