<?php
// Un receptor de webhooks entero. Solo necesita PHP 8. Para probarlo:
// mkdir -p avisos; GUIAS_SECRETO=whsec_… php -S 127.0.0.1:8080 receptor.php

const LIMITE = 1024 * 1024;

/** Dice si el servicio firmó estos bytes hace menos de 5 minutos. */
function vale(string $cuerpo, array $cabeceras, string $secreto, ?int $ahora = null): bool
{
    $id = $cabeceras['webhook-id'] ?? '';
    $hora = $cabeceras['webhook-timestamp'] ?? '';
    if (!preg_match('/^[0-9]{1,15}$/D', $hora) || abs(($ahora ?? time()) - (int) $hora) > 300) {
        return false;
    }
    $clave = base64_decode(preg_replace('/^whsec_/', '', $secreto));
    $buena = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$hora.$cuerpo", $clave, true));
    $vale = false;
    foreach (explode(' ', $cabeceras['webhook-signature'] ?? '') as $una) {
        $vale = hash_equals($buena, $una) || $vale;
    }
    return $vale;
}

/** Guarda un archivo por aviso, entero o ninguno. En su servidor, use una tabla con el id como llave única. */
function guardar(string $id, string $cuerpo): bool
{
    $archivo = (getenv('GUIAS_AVISOS') ?: 'avisos') . "/$id.json";
    if (file_exists($archivo)) {
        return false;
    }
    if (@file_put_contents("$archivo.parte", $cuerpo) !== strlen($cuerpo) || !rename("$archivo.parte", $archivo)) {
        throw new RuntimeException("no se pudo escribir $archivo");
    }
    return true;
}

/** Comprueba y guarda el aviso, y da el estado HTTP de la respuesta. Sirve igual en Laravel, Symfony o WordPress. */
function recibir(string $cuerpo, array $cabeceras): int
{
    if (strlen($cuerpo) > LIMITE) {
        return 413;
    }
    try {
        if (!vale($cuerpo, $cabeceras, getenv('GUIAS_SECRETO') ?: throw new RuntimeException('falta GUIAS_SECRETO'))) {
            error_log('rechazado');
            return 400;
        }
        $aviso = json_decode($cuerpo, true, flags: JSON_THROW_ON_ERROR);
        $nuevo = guardar($aviso['id'], $cuerpo);
        error_log(($nuevo ? 'recibido' : 'repetido') . " {$aviso['id']} {$aviso['tipo']}");
        return 204; // el aviso ya está guardado: conteste ahora y trabaje después
    } catch (Throwable $error) {
        error_log("sin guardar: {$error->getMessage()}");
        return 500; // el aviso volverá a llegar
    }
}

if (PHP_SAPI !== 'cli') {
    $cuerpo = (string) stream_get_contents(fopen('php://input', 'rb'), LIMITE + 1);
    http_response_code(recibir($cuerpo, array_change_key_case(getallheaders())));
}
