package dev.parley.bench;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// A Redis server, for comparison: the installed one, or that of the Debian packages, unpacked in
/// the build's output.
record RedisPeer(Path program, Path libraries) {

  private static final List<String> PACKAGES =
      List.of("redis-tools", "libjemalloc2", "liblzf1", "libatomic1");
  private static final int PATIENCE_MILLIS = 10_000;
  private static final int PAUSE_MILLIS = 50;

  /// Finds or unpacks the program. If neither works, reports this and returns empty.
  static Optional<RedisPeer> find(BenchmarkReport benchmarkReport)
      throws IOException, InterruptedException {
    var unpacked = RepositoryRoot.target().resolve("redis");
    var peer = new RedisPeer(unpacked.resolve("redis-server"), unpacked.resolve("root/usr/lib"));
    for (var one : List.of(new RedisPeer(Path.of("redis-server"), unpacked), peer)) {
      if (one.works()) {
        return Optional.of(one);
      }
    }
    unpack(unpacked);
    if (peer.works()) {
      return Optional.of(peer);
    }
    benchmarkReport.note(
        "Redis left out: there is no redis-server on the PATH, and apt-get could not download it");
    return Optional.empty();
  }

  private boolean works() throws InterruptedException {
    return run(command(List.of("--version"))) == 0;
  }

  /// Unpacks Debian's packages. Needs no rights, and changes nothing outside the folder.
  private static void unpack(Path folder) throws IOException, InterruptedException {
    Files.createDirectories(folder.resolve("root"));
    var download = new ArrayList<>(List.of("apt-get", "download"));
    download.addAll(PACKAGES);
    run(new ProcessBuilder(download).directory(folder.toFile()));
    try (var files = Files.newDirectoryStream(folder, "*.deb")) {
      for (var file : files) {
        run(new ProcessBuilder("dpkg-deb", "-x", file.toString(), folder + "/root"));
      }
    }
    // Debian ships one program under two names; it is a server by the name redis-server.
    var program = folder.resolve("root/usr/bin/redis-check-rdb");
    if (Files.exists(program)) {
      Files.copy(
          program,
          folder.resolve("redis-server"),
          StandardCopyOption.COPY_ATTRIBUTES,
          StandardCopyOption.REPLACE_EXISTING);
    }
  }

  /// Starts a server that writes every command to the disk before it answers.
  BenchmarkProcess start(Path folder, int port) throws IOException, InterruptedException {
    var process =
        BenchmarkProcess.start(
            command(
                    List.of(
                        "--port",
                        Integer.toString(port),
                        "--bind",
                        "127.0.0.1",
                        "--dir",
                        folder.toString(),
                        "--appendonly",
                        "yes",
                        "--appendfsync",
                        "always",
                        "--save",
                        "",
                        "--logfile",
                        folder.resolve("redis.log").toString()))
                .command(),
            folder);
    for (var waited = 0; waited < PATIENCE_MILLIS && !accepts(port); waited += PAUSE_MILLIS) {
      Thread.sleep(PAUSE_MILLIS);
    }
    return process;
  }

  static int freePort() throws IOException {
    try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private static boolean accepts(int port) {
    try (var _ = new Socket(InetAddress.getLoopbackAddress(), port)) {
      return true;
    } catch (IOException notYet) {
      return false;
    }
  }

  private ProcessBuilder command(List<String> arguments) {
    var command =
        new ArrayList<>(List.of("env", "LD_LIBRARY_PATH=" + libraryPath(), program.toString()));
    command.addAll(arguments);
    return new ProcessBuilder(command);
  }

  private String libraryPath() {
    try (var files = Files.newDirectoryStream(libraries, "*-linux-*")) {
      for (var folder : files) {
        return folder.toString();
      }
    } catch (IOException missing) {
      // The installed program needs no others.
    }
    return "";
  }

  private static int run(ProcessBuilder command) throws InterruptedException {
    try {
      return command
          .redirectOutput(Redirect.DISCARD)
          .redirectError(Redirect.DISCARD)
          .start()
          .waitFor();
    } catch (IOException missing) {
      return -1;
    }
  }
}
