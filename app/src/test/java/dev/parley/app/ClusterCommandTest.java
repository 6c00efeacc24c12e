package dev.parley.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.ClusterView;
import dev.parley.protocol.ClusterView.ClusterLoad;
import dev.parley.protocol.ClusterView.ClusterNode;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ClusterCommandTest {

  @Test
  void the_table_shows_the_role_the_last_sign_of_life_and_the_load() {
    var load = new ClusterLoad(3, 2, 40);
    var cluster =
        new ClusterView(
            List.of(
                new ClusterNode(3, "active", "http://10.0.0.21:7070", "1.2", 0, false, load),
                new ClusterNode(4, "standby", "http://10.0.0.22:7070", "1.2", 70, false, null),
                new ClusterNode(5, "standby", "http://10.0.0.23:7070", "1.2", 0, true, null)));
    var testTerminal = TestTerminal.piped(Map.of());
    var terminal = testTerminal.terminal();

    ClusterCommand.table(cluster).print(terminal.out(), terminal.outStyle());

    assertThat(testTerminal.out().lines())
        .containsExactly(
            "NODE  ROLE               ADDRESS                VERSION  SEEN            TASKS"
                + "                STREAMS",
            "3     active             http://10.0.0.21:7070  1.2      now             3 running, 2"
                + " queued  40",
            "4     standby            http://10.0.0.22:7070  1.2      1 min 10 s ago",
            "5     standby (drained)  http://10.0.0.23:7070  1.2      now");
  }
}
