package dev.parley.projection;

import dev.parley.protocol.ArtifactEvent;
import dev.parley.protocol.ArtifactEvent.DataWrite;
import dev.parley.protocol.ArtifactEvent.DatasetWrite;
import dev.parley.protocol.ArtifactEvent.Encoding;
import dev.parley.protocol.ArtifactEvent.FileWrite;
import dev.parley.protocol.ArtifactView;
import dev.parley.protocol.Json;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The bytes that one write event adds to an artifact.
///
/// Base64 may be split at any character. Characters that do not form a whole byte yet are the
/// `carry`, which is put before the next chunk.
final class ArtifactChunk {

  private static final int GROUP = 4;

  private final byte[] bytes;
  private final String carry;

  private ArtifactChunk(byte[] bytes, String carry) {
    this.bytes = bytes;
    this.carry = carry;
  }

  /// Returns the chunk of `event`, given the previous chunk's `carry`. Empty if base64 is invalid.
  static Optional<ArtifactChunk> of(
      ArtifactEvent event, @Nullable Encoding encoding, String carry) {
    return switch (event) {
      case FileWrite file when encoding == Encoding.BASE64 ->
          decode(carry + file.data().replaceAll("\\s", ""), file.complete());
      case FileWrite file ->
          Optional.of(new ArtifactChunk(file.data().getBytes(StandardCharsets.UTF_8), ""));
      case DataWrite data -> Optional.of(new ArtifactChunk(Json.bytes(data.data()), ""));
      case DatasetWrite rows -> Optional.of(new ArtifactChunk(lines(rows), ""));
    };
  }

  /// Returns the index of the write within its version, from 0.
  static int index(ArtifactEvent event) {
    return switch (event) {
      case FileWrite file -> file.index();
      case DatasetWrite rows -> rows.index();
      case DataWrite _ -> 0;
    };
  }

  /// Returns true if the write is the last of its version.
  static boolean last(ArtifactEvent event) {
    return switch (event) {
      case FileWrite file -> file.complete();
      case DatasetWrite rows -> rows.complete();
      case DataWrite _ -> true;
    };
  }

  static ArtifactView.ArtifactType type(ArtifactEvent event) {
    return switch (event) {
      case FileWrite _ -> ArtifactView.ArtifactType.FILE;
      case DataWrite _ -> ArtifactView.ArtifactType.DATA;
      case DatasetWrite _ -> ArtifactView.ArtifactType.DATASET;
    };
  }

  int size() {
    return bytes.length;
  }

  String carry() {
    return carry;
  }

  void writeTo(ByteArrayOutputStream out) {
    out.writeBytes(bytes);
  }

  private static Optional<ArtifactChunk> decode(String text, boolean last) {
    var whole = last ? text.length() : text.length() - text.length() % GROUP;
    try {
      return Optional.of(
          new ArtifactChunk(
              Base64.getDecoder().decode(text.substring(0, whole)), text.substring(whole)));
    } catch (IllegalArgumentException _) {
      return Optional.empty();
    }
  }

  private static byte[] lines(DatasetWrite rows) {
    var lines = new ByteArrayOutputStream();
    for (var row : rows.rows()) {
      lines.writeBytes(Json.bytes(row));
      lines.write('\n');
    }
    return lines.toByteArray();
  }
}
