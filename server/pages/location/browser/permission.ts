// Instructions for a recipient whose browser has denied access to the phone's position. They depend on the browser.

/** Browsers by user agent, and the steps that allow the position in each. The first match applies. */
const BROWSERS: readonly [RegExp, readonly string[]][] = [
  [
    /WhatsApp|FBA[NV]|Instagram|; wv\)/,
    [
      'Esta página está abierta dentro de otra aplicación, como WhatsApp. Toque los tres puntos de la esquina (⋮ o …).',
      'Toque «Abrir en el navegador», «Abrir en Chrome» o «Abrir en Safari».',
      'Ahí toque «Estoy ahí ahora» y después «Permitir».',
    ],
  ],
  [
    /CriOS/,
    [
      'Abra «Configuración» del teléfono y toque «Chrome».',
      'Toque «Ubicación» y elija «Al usar la app».',
      'Vuelva a esta página y toque «Estoy ahí ahora» otra vez.',
    ],
  ],
  [
    /Chrome/,
    [
      'Toque el icono que está a la izquierda de la dirección de esta página (un candado o dos rayas).',
      'Toque «Permisos» y encienda «Ubicación».',
      'Si no aparece: en «Ajustes» del teléfono, «Aplicaciones», «Chrome», «Permisos», permita la «Ubicación».',
      'Toque «Estoy ahí ahora» otra vez.',
    ],
  ],
  [
    /Version\//,
    [
      'En la barra de la dirección, toque «aA» o el icono de la página, y después «Configuración del sitio web».',
      'Toque «Ubicación» y elija «Permitir».',
      'Si no aparece: en «Configuración» del teléfono, «Privacidad y seguridad», «Localización», «Sitios web de Safari», elija «Al usar la app».',
      'Toque «Estoy ahí ahora» otra vez.',
    ],
  ],
]
const OTHER_BROWSER_STEPS = [
  'Entre a los permisos de esta página, junto a su dirección, y permita la «Ubicación».',
  'Toque «Estoy ahí ahora» otra vez.',
]

/** Writes into an element why the position is missing and what to tap, step by step, and the other ways on the page. */
export function explainPermission(where: HTMLElement, otherWays: string) {
  const [, steps] = BROWSERS.find(([pattern]) => pattern.test(navigator.userAgent)) ?? [undefined, OTHER_BROWSER_STEPS]
  const stepList = document.createElement('ol')
  for (const step of steps) {
    const stepItem = document.createElement('li')
    stepItem.textContent = step
    stepList.append(stepItem)
  }
  const explanation = document.createElement('p')
  explanation.textContent = 'El teléfono no nos dio permiso para ver su ubicación. Para darlo:'
  const alternative = document.createElement('p')
  alternative.textContent = otherWays
  where.className = 'estado problema'
  where.replaceChildren(explanation, stepList, alternative)
}
