import type { Letter } from '../../platform/mail/letter.ts'

/** Values of each kind of mail. Names of kinds and values are stored with mails, so they never change. */
export interface CorreoData {
  /** Trial mail that an operator asks for, to see whether mail works. */
  prueba: object
  /** Six-digit code with which a person signs in. */
  codigo: { codigo: string; minutos: number }
  /** Notice of a sign-in from a browser in which the person was not seen before. */
  entrada: { nombre: string; dispositivo: string; cuando: string; enlace: string }
  /** Notice that a passkey was added to an account, or removed from it. */
  passkey: { nombre: string; agregada: boolean; dispositivo: string; cuando: string; enlace: string }
  /**
   * Notice that the second factor of an account changed, was used or failed. `quedan`: number of recovery codes left.
   */
  segundo_factor: { nombre: string; que: FactorChange; quedan: number; cuando: string; enlace: string }
  /** Six-digit code that confirms the address that a person wants. It goes to that address, so it names nobody. */
  correo_nuevo: { codigo: string; minutos: number }
  /** Notice to the former address that the account has another one. */
  cambio_de_correo: { nombre: string; cuando: string; enlace: string }
  /** Invitation to the courier company (`lugar` is null) or to a merchant. */
  invitacion: { nombre: string; lugar: string | null; enlace: string; horas: number }
  /** Mail that asks for a decision. `quien` asks for `que`. */
  aprobacion: { nombre: string; quien: string; que: string; enlace: string; horas: number }
  /**
   * Mail to the person who asked, with the decision about `que`. `quien` decided; it is null if the approval expired.
   * `razon` is set only for a refusal.
   */
  decision: { nombre: string; quien: string | null; que: string; razon: string | null; enlace: string }
}

/** Kind of change of the second factor. The value is stored with the mail, so it never changes. */
export type FactorChange =
  | 'agregado'
  | 'quitado'
  | 'codigos'
  | 'recuperacion'
  | 'bloqueado'
  | 'por_restablecer'
  | 'restablecido'

/** Subject and sentence of the mail for each change of the second factor. */
const BY_FACTOR: Readonly<
  Record<FactorChange, { subject: string; phrase: (when: string, codesLeft: number) => string }>
> = {
  agregado: {
    subject: 'Agregaron una app de códigos a su cuenta',
    phrase: (when) => `El ${when} alguien agregó a su cuenta una app de códigos. Sus códigos se piden al entrar.`,
  },
  quitado: {
    subject: 'Quitaron la app de códigos de su cuenta',
    phrase: (when) => `El ${when} alguien quitó de su cuenta la app de códigos.`,
  },
  codigos: {
    subject: 'Hicieron códigos de recuperación de su cuenta',
    phrase: (when, codesLeft) =>
      `El ${when} alguien hizo ${codesLeft} códigos de recuperación de su cuenta. Los anteriores ya no valen.`,
  },
  recuperacion: {
    subject: 'Usaron un código de recuperación de su cuenta',
    phrase: (when, codesLeft) =>
      `El ${when} alguien usó un código de recuperación de su cuenta. ${codesLeft === 1 ? 'Queda 1' : `Quedan ${codesLeft}`}.`,
  },
  bloqueado: {
    subject: 'Fallaron muchos códigos de su cuenta',
    phrase: (when) =>
      `Hasta el ${when} alguien falló 10 veces el segundo factor de su cuenta, después del código de su correo. Por un día no se puede entrar así.`,
  },
  por_restablecer: {
    subject: 'Piden restablecer el segundo factor de su cuenta',
    phrase: (when) =>
      `El ${when} alguien pidió quitar su app de códigos, sus passkeys y sus códigos de recuperación. No cambia nada hasta que otra persona que administra lo apruebe.`,
  },
  restablecido: {
    subject: 'Restablecieron el segundo factor de su cuenta',
    phrase: (when) =>
      `El ${when} quien administra las cuentas quitó su app de códigos, sus passkeys y sus códigos de recuperación. Entre con su correo y agregue otros.`,
  },
}

/** Kind of a mail. */
export type CorreoType = keyof CorreoData

type CorreoTemplates = { readonly [T in CorreoType]: (datos: CorreoData[T], brand: string) => Letter }

/** Texts of all kinds of mail. */
const TEMPLATES: CorreoTemplates = {
  prueba: (_data, brand) => ({
    subject: `Prueba de correo de ${brand}`,
    paragraphs: [`Este correo es una prueba: el servicio de ${brand} ya puede escribirle a las personas.`],
    despues: ['No hace falta que conteste.'],
  }),
  codigo: ({ codigo, minutos: minutes }, brand) => ({
    subject: `${codigo} es su código para entrar a ${brand}`,
    paragraphs: ['Escriba este código en la página en que lo pidió:'],
    codigo,
    despues: [
      `Vale ${minutes} minutos, una vez, y solo en el navegador en que lo pidió. No se lo dé a nadie: ${brand} nunca se lo va a pedir.`,
      'Si no lo pidió usted, no haga nada: sin este código nadie entra.',
    ],
  }),
  entrada: ({ nombre, dispositivo, cuando: when, enlace }, brand) => ({
    subject: `¿Fue usted? Entraron a su cuenta de ${brand}`,
    paragraphs: [
      `Hola, ${nombre}.`,
      `Alguien entró a su cuenta desde un navegador en que no la habíamos visto: ${dispositivo}, el ${when}.`,
      'Si fue usted, no haga nada.',
    ],
    button: { texto: 'No fui yo: ver mis sesiones', enlace },
    despues: ['Cierre allí la sesión que no conozca, y avise a quien administra las cuentas.'],
  }),
  passkey: ({ nombre, agregada: isAdded, dispositivo, cuando: when, enlace }, brand) => ({
    subject: `¿Fue usted? ${isAdded ? 'Agregaron' : 'Quitaron'} una passkey de su cuenta de ${brand}`,
    paragraphs: [
      `Hola, ${nombre}.`,
      isAdded
        ? `El ${when} alguien agregó una passkey a su cuenta, desde ${dispositivo}. Con ella se entra sin código.`
        : `El ${when} alguien quitó de su cuenta la passkey que se agregó desde ${dispositivo}.`,
      'Si fue usted, no haga nada.',
    ],
    button: { texto: 'No fui yo: ver mi cuenta', enlace },
    despues: ['Quite allí la passkey y cierre la sesión que no conozca, y avise a quien administra las cuentas.'],
  }),
  segundo_factor: ({ nombre, que: change, quedan: codesLeft, cuando: when, enlace }, brand) => ({
    subject: `¿Fue usted? ${BY_FACTOR[change].subject} de ${brand}`,
    paragraphs: [`Hola, ${nombre}.`, BY_FACTOR[change].phrase(when, codesLeft), 'Si fue usted, no haga nada.'],
    button: { texto: 'No fui yo: ver mi cuenta', enlace },
    despues: ['Cierre allí la sesión que no conozca, y avise a quien administra las cuentas.'],
  }),
  correo_nuevo: ({ codigo, minutos: minutes }, brand) => ({
    subject: `${codigo} es el código para entrar a ${brand} con este correo`,
    paragraphs: [
      `Alguien pidió entrar a ${brand} con esta dirección. Si fue usted, escriba este código en la página en que lo pidió:`,
    ],
    codigo,
    despues: [
      `Vale ${minutes} minutos, una vez, y solo en el navegador en que lo pidió. No se lo dé a nadie: ${brand} nunca se lo va a pedir.`,
      'Si no lo pidió usted, no haga nada: sin este código no cambia nada.',
    ],
  }),
  cambio_de_correo: ({ nombre, cuando: when, enlace }, brand) => ({
    subject: `¿Fue usted? Cambiaron el correo de su cuenta de ${brand}`,
    paragraphs: [
      `Hola, ${nombre}.`,
      `El ${when} alguien cambió el correo de su cuenta. Los códigos ya no llegan a esta dirección, y las demás sesiones se cerraron.`,
      'Si fue usted, no haga nada.',
    ],
    button: { texto: 'No fui yo: ver mi cuenta', enlace },
    despues: [
      'Si no fue usted, avise ahora a quien administra las cuentas: puede cerrar las sesiones y borrar la cuenta. Con una passkey todavía puede entrar.',
    ],
  }),
  invitacion: ({ nombre, lugar, enlace, horas }, brand) => ({
    subject: `Le invitan a ${lugar ?? brand}`,
    paragraphs: [
      `Hola, ${nombre}.`,
      lugar === null
        ? `Le invitan a trabajar en el sistema de ${brand}.`
        : `Le invitan a manejar los envíos de ${lugar} en el sistema de ${brand}.`,
    ],
    button: { texto: 'Aceptar la invitación', enlace },
    despues: [
      ...(lugar === null
        ? ['Al aceptar se pide un código, que le da quien le invitó, en persona o por teléfono.']
        : []),
      `El enlace vale una vez, ${horas} horas. Si no esperaba esta invitación, no haga nada.`,
    ],
  }),
  aprobacion: ({ nombre, quien, que: request, enlace, horas }, brand) => ({
    subject: `Hace falta su aprobación en ${brand}`,
    paragraphs: [`Hola, ${nombre}.`, `${quien} pide ${request}. No cambia nada hasta que otra persona lo apruebe.`],
    button: { texto: 'Ver y decidir', enlace },
    despues: [`Vale ${horas} horas. Si no la esperaba, pregúntele a quien la pidió antes de aprobar.`],
  }),
  decision: ({ nombre, quien, que: request, razon, enlace }, brand) => ({
    subject: `${quien === null ? 'Venció' : razon === null ? 'Aprobaron' : 'Rechazaron'} lo que usted pidió en ${brand}`,
    paragraphs: [
      `Hola, ${nombre}.`,
      `Usted pidió ${request}.`,
      ...(quien === null
        ? ['Nadie decidió a tiempo, y no se hizo. Si todavía hace falta, pídalo otra vez.']
        : razon === null
          ? [`${quien} lo aprobó, y ya está hecho.`]
          : [`${quien} lo rechazó, y no se hizo. Por qué: ${razon}`]),
    ],
    button: { texto: 'Ver mi cuenta', enlace },
    despues: ['Si no lo pidió usted, cierre allí la sesión que no conozca, y avise a quien administra las cuentas.'],
  }),
}

/** Writes a mail of a kind with these values. */
export const composeLetter = <T extends CorreoType>(type: T, datos: CorreoData[T], brand: string): Letter =>
  TEMPLATES[type](datos, brand)
