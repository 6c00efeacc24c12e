package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.identity.Role;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The section `signIn` of the configuration.
class SignInConfigTest {

  @TempDir Path folder;

  private Config load(String yaml) throws IOException {
    var file = Files.writeString(folder.resolve("parley.yaml"), yaml);
    var environment = new Config.ProcessEnvironment(Map.of("SECRET", "s3cret"), folder, folder);
    return Config.load(file, environment, TestServer.MODULES);
  }

  @Test
  void defaults_let_everybody_in_as_a_member_and_require_a_credential() throws IOException {
    var config =
        load(
            "signIn: {issuer: 'https://login.example.org/', clientId: p, clientSecret: '${SECRET}'}");
    var settings = config.signIn().orElseThrow();
    assertThat(config.http().authenticated()).isTrue();
    assertThat(settings.clientSecret()).isEqualTo("s3cret");
    assertThat(settings.toString()).doesNotContain("s3cret");
    assertThat(settings.name()).isEqualTo("login.example.org");
    assertThat(settings.scopes()).containsExactly("openid", "profile", "email");
    assertThat(settings.roles()).isEqualTo(Map.of("*", Set.of(Role.MEMBER)));
    assertThat(settings.tenant()).isEqualTo("default");
    assertThat(load("heartbeat: 5s").http().authenticated()).isFalse();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{clientId: p}                                                    | signIn.issuer: must be",
        "{issuer: 'http://login.example.org', clientId: p}                | signIn.issuer: must be",
        "{issuer: 'http://127.0.0.1.evil.example', clientId: p}           | signIn.issuer: must be",
        "{issuer: 'https://a.example'}                                    | signIn.clientId: is needed",
        "{issuer: 'https://a.example', clientId: p, scopes: [email]}      | signIn.scopes: must contain",
        "{issuer: 'https://a.example', clientId: p, tenant: A.B}          | signIn.tenant: must be",
        "{issuer: 'https://a.example', clientId: p, roles: {a: [owner]}}  | needs groupsClaim",
        "{issuer: 'https://a.example', clientId: p, roles: {'*': [boss]}} | there is no boss",
        "{issuer: 'https://a.example', clientId: p, roles: {'*': []}}     | at least one",
        "{issuer: 'https://a.example', clientId: p, emailDomains: ['@a']} | must be a domain",
        "{issuer: 'https://a.example', clientId: p, group: a}             | unknown key"
      })
  void mistakes_are_reported(String section, String problem) {
    assertThatThrownBy(() -> load("signIn: " + section)).hasMessageContaining(problem);
  }
}
