use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Measures;

my %groups;
while (<STDIN>) {
    my (undef, $way, $stages, $process) = split /\|/;
    next unless defined $process;
    my (undef, $a, undef, undef, $b, undef, undef, $c) = split ' ', $stages;
    my $counts = $groups{$way}{$process} //= [{}, {}, {}];
    $counts->[0]{$a}++;
    $counts->[1]{$b}++;
    $counts->[2]{$c}++;
}
my %names = (I => [qw(drv-ip ip-tcp tcp-app)], O => [qw(app-tcp tcp-ip ip-drv)]);
my %shown;
for my $way (keys %groups) {
    for my $process (keys %{$groups{$way}}) {
        my ($comm, $pid) = $process =~ /Proc (.*), PID (\d+)/;
        $shown{"$pid $comm"}{$names{$way}[$_]} = $groups{$way}{$process}[$_] for 0 .. 2;
    }
}
Measures::show(\%shown);
