package dev.parley.encryption;

import dev.parley.protocol.Rejection;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// A master key in a key management system, which a command uses. Its last argument is `wrap` or
/// `unwrap`; it reads a value in base64 and writes the result in base64.
public record MasterKeyCommand(List<String> command) implements MasterKey {

  private static final int SECONDS_MAX = 30;
  private static final int OUTPUT_MAX = 64 << 10;
  private static final int ERROR_MAX = 500;

  public MasterKeyCommand {
    command = List.copyOf(command);
  }

  @Override
  public byte[] wrap(byte[] key) {
    return run("wrap", key);
  }

  @Override
  public byte[] unwrap(byte[] wrapped) {
    var key = run("unwrap", wrapped);
    if (key.length != AesGcm.KEY_BYTES) {
      throw failed("unwrap", "returned %d bytes instead of 32".formatted(key.length));
    }
    return key;
  }

  private byte[] run(String operation, byte[] input) {
    var arguments = new ArrayList<>(command);
    arguments.add(operation);
    Process process;
    try {
      process = new ProcessBuilder(arguments).start();
    } catch (IOException missing) {
      throw failed(operation, "cannot be started: " + missing.getMessage());
    }
    try {
      // The output fits into the buffer of the pipe, so it can be read after the end.
      write(process, Base64.getEncoder().encode(input));
      if (!process.waitFor(SECONDS_MAX, TimeUnit.SECONDS)) {
        throw failed(operation, "took longer than " + SECONDS_MAX + " seconds");
      }
      if (process.exitValue() != 0) {
        throw failed(operation, "failed: " + firstLine(read(process.getErrorStream())));
      }
      return Base64.getMimeDecoder().decode(read(process.getInputStream()).strip());
    } catch (IOException unreadable) {
      throw failed(operation, "has no output: " + unreadable.getMessage());
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw failed(operation, "was interrupted");
    } catch (IllegalArgumentException notBase64) {
      throw failed(operation, "wrote something that is not base64");
    } finally {
      process.destroyForcibly();
    }
  }

  /// A command that does not read its input may close the pipe first; its exit code then decides.
  private static void write(Process process, byte[] base64) {
    try (var input = process.getOutputStream()) {
      input.write(base64);
      input.write('\n');
    } catch (IOException closed) {
      // See above.
    }
  }

  private static String read(InputStream stream) throws IOException {
    try (stream) {
      return new String(stream.readNBytes(OUTPUT_MAX), StandardCharsets.UTF_8);
    }
  }

  private static String firstLine(String errors) {
    var line = errors.strip().lines().findFirst().orElse("without a message");
    return line.length() <= ERROR_MAX ? line : line.substring(0, ERROR_MAX);
  }

  private Rejection failed(String operation, String why) {
    return new Rejection.Unavailable(
        "the command of the master key (%s … %s) %s".formatted(command.getFirst(), operation, why));
  }
}
