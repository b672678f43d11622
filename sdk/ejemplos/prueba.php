<?php
// Comprueba una prueba de entrega sin preguntar a nadie. Usa sodium, que PHP trae desde la 7.2.
// php prueba.php GUIA manifiesto.txt jwks.json [prueba.pdf foto.jpg …]

function deBase64url(string $texto): string
{
    return sodium_base642bin($texto, SODIUM_BASE64_VARIANT_URLSAFE_NO_PADDING);
}

/** Da el manifiesto si la firma es buena y cada archivo es uno de los suyos; si no, lanza RuntimeException. */
function comprobar(string $guia, string $manifiesto, array $claves, array $archivos): array
{
    try {
        [$cabeza, $cuerpo, $sello] = array_pad(explode('.', $manifiesto), 3, '');
        $cabecera = json_decode(deBase64url($cabeza), true, flags: JSON_THROW_ON_ERROR);
        $firma = deBase64url($sello);
    } catch (Exception $error) {
        throw new RuntimeException('el manifiesto no se puede leer', 0, $error);
    }
    // Usted decide qué algoritmo vale, nunca el manifiesto.
    [$alg, $typ, $kid] = [$cabecera['alg'] ?? null, $cabecera['typ'] ?? null, $cabecera['kid'] ?? null];
    if ($alg !== 'EdDSA' || $typ !== 'prueba-entrega+jws' || isset($cabecera['crit'])) {
        throw new RuntimeException('no es una prueba de entrega');
    }
    $suyas = array_filter($claves['keys'], fn ($una) => $una['kid'] === $kid && $una['crv'] === 'Ed25519');
    $clave = reset($suyas);
    if (!$clave) {
        throw new RuntimeException('la clave que firmó no está entre las que usted tiene: pídalas otra vez');
    }
    $entera = strlen($firma) === SODIUM_CRYPTO_SIGN_BYTES;
    if (!$entera || !sodium_crypto_sign_verify_detached($firma, "$cabeza.$cuerpo", deBase64url($clave['x']))) {
        throw new RuntimeException('la firma no corresponde');
    }
    $firmado = json_decode(deBase64url($cuerpo), true, flags: JSON_THROW_ON_ERROR);
    if ($firmado['guia'] !== $guia) {
        throw new RuntimeException("la prueba es de la guía {$firmado['guia']}");
    }
    foreach ($archivos as $i => $archivo) {
        if (!in_array(hash('sha256', $archivo), array_column($firmado['archivos'], 'sha256'), true)) {
            throw new RuntimeException('el archivo ' . ($i + 1) . ' no es de esta prueba');
        }
    }
    return $firmado;
}

[, $guia, $manifiesto, $claves] = $argv;
$archivos = array_map('file_get_contents', array_slice($argv, 4));
try {
    $claves = json_decode(file_get_contents($claves), true, flags: JSON_THROW_ON_ERROR);
    $firmado = comprobar($guia, trim(file_get_contents($manifiesto)), $claves, $archivos);
} catch (RuntimeException $error) {
    fwrite(STDERR, "NO VALE: {$error->getMessage()}\n");
    exit(1);
}
echo "vale: {$firmado['guia']} {$firmado['entregado_en']}\n";
