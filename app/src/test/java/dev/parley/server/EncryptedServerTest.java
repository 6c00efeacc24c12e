package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.client.NewContext;
import dev.parley.client.NewMessage;
import dev.parley.client.ParleyClient;
import dev.parley.encryption.MasterKeyFile;
import dev.parley.log.OwnerOnlyFiles;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.EncryptionView;
import dev.parley.protocol.MessageView;
import dev.parley.protocol.Rejection;
import dev.parley.server.Diagnosis.DiagnosisGrade;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// A server that encrypts what it stores.
@Timeout(120)
class EncryptedServerTest {

  private static final String SECRET = "the-marker-that-nobody-may-read";

  @TempDir Path folder;
  private Path data;
  private Path masterKey;

  @BeforeEach
  void makeKey() throws IOException {
    data = folder.resolve("data");
    masterKey = folder.resolve("master.key");
    OwnerOnlyFiles.createFile(masterKey);
    Files.writeString(masterKey, MasterKeyFile.newLine() + "\n");
  }

  private String encrypted() {
    return "encryption: {masterKey: {file: " + masterKey + "}}\n";
  }

  private TestServer start(String yaml) throws IOException {
    return TestServer.startedIn(folder, data, yaml);
  }

  /// The files of the data folder that contain the text.
  private List<String> filesWithSecret() throws IOException {
    try (var files = Files.walk(data)) {
      return files
          .filter(Files::isRegularFile)
          .filter(EncryptedServerTest::hasSecret)
          .map(file -> file.getFileName().toString())
          .toList();
    }
  }

  private static boolean hasSecret(Path file) {
    try {
      return Files.readString(file, StandardCharsets.ISO_8859_1).contains(SECRET);
    } catch (IOException removedMeanwhile) {
      return false;
    }
  }

  private static ContextId talk(ParleyClient client) throws InterruptedException {
    var context = client.createContext(NewContext.titled(SECRET)).contextId();
    try (var stream = client.sendAndStream(context, NewMessage.text("say " + SECRET))) {
      assertThat(stream.text()).contains(SECRET);
    }
    return context;
  }

  private static List<String> messages(ParleyClient client, ContextId context) {
    return client.messages(context, null, 10).items().stream().map(MessageView::content).toList();
  }

  @Test
  void no_file_contains_what_was_said_and_a_restart_finds_all_of_it() throws Exception {
    ContextId context;
    List<String> said;
    try (var server = start("");
        var client = new ParleyClient(server.url)) {
      talk(client);
      assertThat(filesWithSecret()).contains("views.db-wal");
    }
    var plain = folder.resolve("plain");
    Files.move(data, plain);
    Files.createDirectory(data);
    Files.copy(plain.resolve("views.db"), data.resolve("views.db"));

    try (var server = start(encrypted() + "vault: {store: memory}\n");
        var client = new ParleyClient(server.url)) {
      context = talk(client);
      said = messages(client, context);
      assertThat(said).anyMatch(text -> text.contains(SECRET));
      assertThat(filesWithSecret()).isEmpty();
      assertThat(data.resolve("views.db")).doesNotExist();
    }
    assertThat(filesWithSecret()).isEmpty();
    try (var server = start(encrypted() + "vault: {store: memory}\n");
        var client = new ParleyClient(server.url)) {
      assertThat(messages(client, context)).isEqualTo(said);
      assertThat(client.contexts(null, 10).items().getFirst().title()).isEqualTo(SECRET);
      assertThat(client.encryption()).isEqualTo(new EncryptionView(true, 1, 0, false, 0));
      assertThat(client.rotateKeys().on()).isTrue();
      client.deleteContext(context);
      assertThat(client.encryption().encrypted()).isZero();
    }
  }

  @Test
  void doctor_finds_a_master_key_that_does_not_fit() throws Exception {
    var fits = new Config.EncryptionConfig(new MasterKeyFile(masterKey));
    try (var server = start(encrypted() + "vault: {store: memory}\n")) {
      server.context("c");
      assertThat(EncryptionDiagnosis.ofFolder(data, fits).orElseThrow().grade())
          .isEqualTo(DiagnosisGrade.OK);
    }
    assertThat(EncryptionDiagnosis.ofFolder(data, Config.EncryptionConfig.OFF).orElseThrow().text())
        .contains("set encryption.masterKey");
    Files.writeString(masterKey, MasterKeyFile.newLine() + "\n");
    assertThat(EncryptionDiagnosis.ofFolder(data, fits).orElseThrow().text())
        .contains("does not fit the stored keys");
    Files.delete(masterKey);
    assertThat(EncryptionDiagnosis.ofFolder(data, fits).orElseThrow().text())
        .contains("the file with the master key is missing");
  }

  @Test
  void a_key_beside_the_vault_is_refused() throws Exception {
    var file = Files.writeString(folder.resolve("parley.yaml"), encrypted());
    var environment = new Config.ProcessEnvironment(Map.of(), folder, folder);
    var config =
        Config.load(file, environment, TestServer.MODULES)
            .keepingDataIn(data)
            .listeningOn("127.0.0.1", 0);

    assertThatThrownBy(() -> Server.start(config, TestServer.MODULES))
        .isInstanceOf(Rejection.Invalid.class)
        .hasMessageContaining("set PARLEY_VAULT_KEY");
  }

  @Test
  void the_configuration_needs_one_master_key() throws Exception {
    var environment = new Config.ProcessEnvironment(Map.of(), folder, folder);
    for (var section : List.of("{}", "{masterKey: {}}", "{masterKey: {file: a, command: [b]}}")) {
      var file = Files.writeString(folder.resolve("parley.yaml"), "encryption: " + section + "\n");
      assertThatThrownBy(() -> Config.load(file, environment))
          .hasMessageContaining("needs either a file or a command");
    }
  }
}
