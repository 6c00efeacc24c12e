package dev.parley.app;

import dev.parley.client.ClientSettings;
import dev.parley.client.ParleyClient;
import java.net.URI;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// Finds the server that a command talks to.
final class ServerOptions {

  static final String URL_DEFAULT = "http://127.0.0.1:7070";

  @Option(
      names = "--url",
      paramLabel = "URL",
      description = {
        "The server's address. Default: the server of --data, else PARLEY_URL, else the server of"
            + " PARLEY_DATA, else that of ~/.parley, else",
        // A line of its own, because the help could break an address after any colon or slash.
        URL_DEFAULT + "."
      })
  private @Nullable URI url;

  @Option(
      names = "--token",
      paramLabel = "TOKEN",
      description = "The token to send to the server. Default: PARLEY_TOKEN.")
  private @Nullable String token;

  @Option(
      names = "--data",
      paramLabel = "DIR",
      description =
          "The data folder of the server to use; no other server is tried. Default: PARLEY_DATA,"
              + " else ~/.parley.")
  private @Nullable Path data;

  /// A client of the server.
  ParleyClient client(Terminal terminal) {
    return new ParleyClient(settings(terminal));
  }

  ClientSettings settings(Terminal terminal) {
    return find(terminal)
        .withToken(token == null ? terminal.variable("PARLEY_TOKEN") : token)
        .withNotice(reason -> terminal.err().println("Waiting for the server: " + reason));
  }

  /// The options with which another command finds the same server: empty, or with a leading space.
  ///
  /// Never contains the token, because the text is printed.
  String commandLineOptions() {
    var address = url == null ? "" : " --url " + AnswerCommandLine.quoted(url.toString());
    return address + (data == null ? "" : " --data " + AnswerCommandLine.quoted(data.toString()));
  }

  Path dataFolder(Terminal terminal) {
    return dataFolder(data, terminal);
  }

  /// The data folder of a server.
  static Path dataFolder(@Nullable Path given, Terminal terminal) {
    if (given != null) {
      return given;
    }
    var variable = terminal.variable("PARLEY_DATA");
    return variable == null ? home(terminal).resolve(".parley") : Path.of(variable);
  }

  /// The folder that the shell calls `~`. Java alone would read the user database instead of HOME.
  static Path home(Terminal terminal) {
    var variable = terminal.variable("HOME");
    return Path.of(variable == null ? System.getProperty("user.home") : variable);
  }

  private ClientSettings find(Terminal terminal) {
    if (url != null) {
      return ClientSettings.of(url);
    }
    if (data != null) {
      return serverOf(data, "--data");
    }
    var address = terminal.variable("PARLEY_URL");
    if (address != null) {
      try {
        return ClientSettings.of(URI.create(address));
      } catch (IllegalArgumentException malformed) {
        throw new CommandExit(CommandExit.USAGE, "PARLEY_URL is not an address: " + address);
      }
    }
    var folder = dataFolder(terminal);
    if (terminal.variable("PARLEY_DATA") != null) {
      return serverOf(folder, "PARLEY_DATA");
    }
    return ServerFile.read(folder)
        .map(ServerOptions::settings)
        .orElseGet(() -> ClientSettings.of(URI.create(URL_DEFAULT)));
  }

  private static ClientSettings settings(ServerFile file) {
    var settings = ClientSettings.of(URI.create(file.url()));
    return file.certificate() == null
        ? settings
        : settings.withTls(PinnedCertificate.context(Path.of(file.certificate())));
  }

  /// The server of a folder that the user named; never the server on the default port.
  private static ClientSettings serverOf(Path folder, String namedBy) {
    return ServerFile.read(folder)
        .map(ServerOptions::settings)
        .orElseThrow(
            () ->
                new CommandExit(
                    CommandExit.NO_SERVER,
                    "No Parley server runs on the data folder %s (%s). Start one with: ./parley serve --data %s"
                        .formatted(folder, namedBy, AnswerCommandLine.quoted(folder.toString()))));
  }
}
