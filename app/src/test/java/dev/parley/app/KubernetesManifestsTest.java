package dev.parley.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.http.Metrics;
import dev.parley.http.OperatorRoutes;
import dev.parley.http.Reply;
import dev.parley.http.Route;
import dev.parley.server.Config;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

/// The manifests in `deploy/kubernetes` fit together, and what they use of Parley exists.
class KubernetesManifestsTest {

  private static final Path DEPLOY = SourceFile.root().resolve("deploy");
  private static final Set<String> WORKLOADS = Set.of("Deployment", "StatefulSet");

  @TempDir Path folder;

  private static List<JsonNode> resources(String file) throws IOException {
    var mapper = new YAMLMapper();
    try (var documents =
        mapper
            .readerFor(JsonNode.class)
            .<JsonNode>readValues(DEPLOY.resolve("kubernetes/" + file))) {
      return documents.readAll();
    }
  }

  private static JsonNode only(String file, String kind) throws IOException {
    var found = resources(file).stream().filter(each -> kind.equals(text(each, "/kind"))).toList();
    assertThat(found).as(kind).hasSize(1);
    return found.getFirst();
  }

  private static JsonNode workload(String file) throws IOException {
    return resources(file).stream()
        .filter(each -> WORKLOADS.contains(text(each, "/kind")))
        .findFirst()
        .orElseThrow();
  }

  private static JsonNode container(String file) throws IOException {
    var containers = workload(file).at("/spec/template/spec/containers");
    assertThat(containers).hasSize(1);
    return containers.get(0);
  }

  private static String text(JsonNode node, String pointer) {
    return node.at(pointer).asString("");
  }

  private static List<String> texts(JsonNode node, String pointer) {
    return node.at(pointer).valueStream().map(each -> each.asString("")).toList();
  }

  @ParameterizedTest
  @ValueSource(strings = {"single.yaml", "cluster.yaml"})
  void every_resource_has_a_kind_and_the_selectors_fit(String file) throws IOException {
    var labels = workload(file).at("/spec/template/metadata/labels");
    for (var resource : resources(file)) {
      assertThat(text(resource, "/apiVersion")).isNotEmpty();
      assertThat(text(resource, "/kind")).isNotEmpty();
      assertThat(text(resource, "/metadata/name")).isEqualTo("parley");
      switch (text(resource, "/kind")) {
        case "Service" -> assertThat(resource.at("/spec/selector")).isEqualTo(labels);
        case "ConfigMap" -> assertThat(texts(resource, "/data")).hasSize(1);
        default -> assertThat(resource.at("/spec/selector/matchLabels")).isEqualTo(labels);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"single.yaml", "cluster.yaml"})
  void the_options_and_variables_exist(String file) throws IOException {
    var container = container(file);
    var arguments = texts(container, "/args");
    var serve =
        CommandLineProgram.commandLine(Terminal.system())
            .getSubcommands()
            .get(arguments.getFirst())
            .getCommandSpec();
    var options = arguments.stream().filter(each -> each.startsWith("--")).toList();
    assertThat(options).isNotEmpty().allMatch(each -> serve.findOption(each) != null);

    var guide = Guide.named("configuration.md").text();
    var variables = container.at("/env").valueStream().map(each -> text(each, "/name")).toList();
    // For --node-address.
    assertThat(variables)
        .filteredOn(name -> !name.equals("POD_IP"))
        .isNotEmpty()
        .allMatch(name -> guide.contains("`" + name + "`"));
    for (var argument : arguments) {
      if (argument.contains("$(")) {
        assertThat(variables).contains(argument.replaceAll(".*\\$\\((\\w+)\\).*", "$1"));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"single.yaml", "cluster.yaml"})
  void probes_and_services_use_ports_and_paths_that_exist(String file) throws IOException {
    var container = container(file);
    var port = container.at("/ports/0");
    var arguments = texts(container, "/args");
    assertThat(arguments.get(arguments.indexOf("--port") + 1))
        .isEqualTo(text(port, "/containerPort"));
    assertThat(text(only(file, "Service"), "/spec/ports/0/targetPort"))
        .isEqualTo(text(port, "/name"));
    var paths =
        OperatorRoutes.ofStandby(new Metrics(), () -> new Reply.Empty(204, Map.of())).stream()
            .map(Route::path)
            .collect(Collectors.toSet());
    for (var probe : List.of("startupProbe", "livenessProbe", "readinessProbe")) {
      var request = container.at("/" + probe + "/httpGet");
      assertThat(text(request, "/port")).as(probe).isEqualTo(text(port, "/name"));
      assertThat(paths).as(probe).contains(text(request, "/path"));
    }
    assertThat(text(container, "/livenessProbe/httpGet/path")).isEqualTo("/healthz");
    assertThat(text(container, "/readinessProbe/httpGet/path")).isEqualTo("/readyz");
  }

  @ParameterizedTest
  @ValueSource(strings = {"single.yaml", "cluster.yaml"})
  void a_pod_has_few_rights_and_mounts_its_volumes(String file) throws IOException {
    var pod = workload(file).at("/spec/template/spec");
    var container = container(file);
    assertThat(pod.at("/securityContext/runAsNonRoot").asBoolean()).isTrue();
    assertThat(container.at("/securityContext/readOnlyRootFilesystem").asBoolean()).isTrue();
    assertThat(container.at("/securityContext/allowPrivilegeEscalation").asBoolean(true)).isFalse();
    var volumes =
        Stream.concat(
                pod.at("/volumes").valueStream().map(each -> text(each, "/name")),
                workload(file)
                    .at("/spec/volumeClaimTemplates")
                    .valueStream()
                    .map(each -> text(each, "/metadata/name")))
            .toList();
    assertThat(container.at("/volumeMounts").valueStream().map(each -> text(each, "/name")))
        .containsExactlyInAnyOrderElementsOf(volumes);
    // Longer than the stop of a server, and the time before it.
    assertThat(pod.at("/terminationGracePeriodSeconds").asInt()).isGreaterThanOrEqualTo(20);
  }

  @ParameterizedTest
  @ValueSource(strings = {"single.yaml", "cluster.yaml"})
  void the_configuration_is_accepted(String file) throws IOException {
    // The folder of the container does not exist here.
    var text =
        text(only(file, "ConfigMap"), "/data/parley.yaml")
            .replace("/srv/parley", folder.toString());
    var config = Files.writeString(folder.resolve("parley.yaml"), text);
    assertThat(
            Config.load(
                config,
                new Config.ProcessEnvironment(Map.of(), folder, folder),
                ProgramModules.ALL))
        .isNotNull();
  }

  @Test
  void the_servers_of_a_cluster_share_a_database_and_tell_their_address() throws IOException {
    var container = container("cluster.yaml");
    var variables = container.at("/env").valueStream().map(each -> text(each, "/name")).toList();
    assertThat(variables).contains("PARLEY_DB", "PGPASSWORD", "PARLEY_VAULT_KEY");
    assertThat(texts(container, "/args")).contains("--node-address", "http://$(POD_IP):7070");
    assertThat(text(workload("cluster.yaml"), "/kind")).isEqualTo("Deployment");
    assertThat(only("cluster.yaml", "PodDisruptionBudget").at("/spec/maxUnavailable").asInt())
        .isEqualTo(1);
    assertThat(text(workload("single.yaml"), "/kind")).isEqualTo("StatefulSet");
    assertThat(workload("single.yaml").at("/spec/replicas").asInt()).isEqualTo(1);
  }

  @Test
  void the_image_has_the_main_class_and_the_user_of_the_manifests() throws IOException {
    var image = Files.readString(DEPLOY.resolve("Dockerfile"));
    assertThat(image).contains(Main.class.getName());
    for (var file : List.of("single.yaml", "cluster.yaml")) {
      assertThat(image)
          .contains(
              "USER "
                  + text(workload(file), "/spec/template/spec/securityContext/runAsUser")
                  + ":");
    }
  }
}
