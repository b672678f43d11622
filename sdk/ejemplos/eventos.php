<?php
// Sigue todos los eventos, desde el cursor que guardó la última vez. Ejecútelo cada minuto, por ejemplo.
// GUIAS_URL=… GUIAS_LLAVE=… php eventos.php

const GUARDADO = 'cursor.txt';

$cursor = is_file(GUARDADO) ? file_get_contents(GUARDADO) : '';
while (true) {
    $consulta = http_build_query(['limite' => 100] + ($cursor === '' ? [] : ['cursor' => $cursor]));
    $leido = file_get_contents(getenv('GUIAS_URL') . "/api/v1/eventos?$consulta", false, stream_context_create(['http' => [
        'header' => 'Authorization: Bearer ' . getenv('GUIAS_LLAVE'),
        'timeout' => 30,
    ]]));
    if ($leido === false) {
        exit(1);
    }
    $pagina = json_decode($leido, true, flags: JSON_THROW_ON_ERROR);
    foreach ($pagina['datos'] as $evento) {
        echo "{$evento['guia']} {$evento['tipo']}\n";
    }
    if (!$pagina['datos']) {
        break;
    }
    // Después de atender los eventos: si el programa se cae antes, los recibe otra vez.
    $cursor = $pagina['cursor_siguiente'];
    file_put_contents(GUARDADO, $cursor);
}
