package dev.parley.tool;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Path;

/// Reads whole text files, within a limit.
final class TextFile {

  static final int BYTES_MAX = 16 * 1024 * 1024;

  private static final int SNIFF = 8_192;

  private TextFile() {}

  /// The text of a file: UTF-8, or ISO-8859-1 if it is not valid UTF-8. A byte order mark is
  /// removed.
  static String read(WorkingDirectory workingDirectory, Path file) throws IOException {
    var bytes = workingDirectory.read(file);
    if (binary(bytes)) {
      throw new WorkingDirectory.FileRejectedException(
          "this is not a text file: " + file.getFileName());
    }
    var text = new String(bytes, charset(bytes));
    return text.startsWith("\uFEFF") ? text.substring(1) : text;
  }

  /// The reason why a file could not be read, for the model, without absolute paths.
  static String reason(String path, IOException failure) {
    return switch (failure) {
      case WorkingDirectory.FileRejectedException fileRejectedException ->
          String.valueOf(fileRejectedException.getMessage());
      case AccessDeniedException _ -> "the file may not be read: " + path;
      default -> "the file cannot be read: " + path;
    };
  }

  /// True if these bytes are not text.
  static boolean binary(byte[] bytes) {
    for (var i = 0; i < Math.min(bytes.length, SNIFF); i++) {
      if (bytes[i] == 0) {
        return true;
      }
    }
    return false;
  }

  /// The encoding of these bytes: UTF-8, or ISO-8859-1 if they are not valid UTF-8.
  static Charset charset(byte[] bytes) {
    try {
      StandardCharsets.UTF_8
          .newDecoder()
          .onMalformedInput(CodingErrorAction.REPORT)
          .decode(ByteBuffer.wrap(bytes));
      return StandardCharsets.UTF_8;
    } catch (CharacterCodingException notUtf8) {
      return StandardCharsets.ISO_8859_1;
    }
  }
}
