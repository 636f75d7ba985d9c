# What the sums of stages in Perl have in common: show(\%counts), $counts{group}{stage}{value} = how often.
package Measures;
use strict;
use warnings;
use POSIX qw(ceil);

sub show {
    my ($groups) = @_;
    for my $group (sort keys %$groups) {
        for my $stage (sort keys %{$groups->{$group}}) {
            my $counts = $groups->{$group}{$stage};
            my @values = sort { $a <=> $b } keys %$counts;
            my ($n, $sum, $squares) = (0, 0, 0);
            for (@values) { $n += $counts->{$_}; $sum += $_ * $counts->{$_} }
            my $mean = $sum / $n;
            $squares += ($_ - $mean)**2 * $counts->{$_} for @values;
            my @row = ($group, $stage, $n, $mean, $n > 1 ? sqrt($squares / ($n - 1)) : 0, $values[0], $values[-1]);
            my ($at, $before) = (0, 0);
            for my $percent (50, 90, 99, 99.9) {
                my $rank = ceil($n * $percent / 100 - 1e-9);
                $before += $counts->{$values[$at++]} while $before + $counts->{$values[$at]} < $rank;
                push @row, $values[$at];
            }
            print join("\t", @row), "\n";
        }
    }
}

1;
